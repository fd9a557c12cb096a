(* The programs with data values in OCaml: `programs NAME ARGUMENT...` runs one of them and prints its results and the
   seconds it took, as JSON. Each is the program of the same name in benchmarks/programs, function by function. *)

let next x = ((x * 1103515245) + 12345) mod 2147483648

module Red_black = struct
  type color = Red | Black
  type tree = Leaf | Node of color * tree * int * tree

  let balance_left left key right =
    match left with
    | Node (Red, Node (Red, a, x, b), y, c) | Node (Red, a, x, Node (Red, b, y, c)) ->
        Node (Red, Node (Black, a, x, b), y, Node (Black, c, key, right))
    | _ -> Node (Black, left, key, right)

  let balance_right left key right =
    match right with
    | Node (Red, Node (Red, b, y, c), z, d) | Node (Red, b, y, Node (Red, c, z, d)) ->
        Node (Red, Node (Black, left, key, b), y, Node (Black, c, z, d))
    | _ -> Node (Black, left, key, right)

  let rec inserted t key =
    match t with
    | Leaf -> Node (Red, Leaf, key, Leaf)
    | Node (Black, left, x, right) ->
        if key < x then balance_left (inserted left key) x right
        else if key > x then balance_right left x (inserted right key)
        else t
    | Node (Red, left, x, right) ->
        if key < x then Node (Red, inserted left key, x, right)
        else if key > x then Node (Red, left, x, inserted right key)
        else t

  let insert t key =
    match inserted t key with Leaf -> Leaf | Node (_, left, x, right) -> Node (Black, left, x, right)

  let rec insert_all n x t = if n = 0 then t else insert_all (n - 1) (next x) (insert t x)
  let rec count = function Leaf -> 0 | Node (_, left, _, right) -> count left + 1 + count right

  let rec height = function
    | Leaf -> 0
    | Node (_, left, _, right) ->
        let l = height left and r = height right in
        1 + if l > r then l else r

  let rec checksum t sum =
    match t with
    | Leaf -> sum
    | Node (_, left, key, right) -> checksum right (((checksum left sum * 31) + key) mod 1000003)

  let run n =
    let t = insert_all n 65539 Leaf in
    [ count t; height t; checksum t 0 ]
end

module Derivative = struct
  type expression =
    | Number of int
    | X
    | Sum of expression * expression
    | Product of expression * expression
    | Power of expression * int

  let plus a b =
    match (a, b) with
    | Number m, Number n -> Number (m + n)
    | Number 0, _ -> b
    | _, Number 0 -> a
    | _ -> Sum (a, b)

  let times a b =
    match (a, b) with
    | Number m, Number n -> Number (m * n)
    | Number 0, _ -> a
    | Number 1, _ -> b
    | _, Number 0 -> b
    | _, Number 1 -> a
    | _ -> Product (a, b)

  let power base exponent = if exponent = 1 then base else Power (base, exponent)

  let rec differentiate = function
    | Number _ -> Number 0
    | X -> Number 1
    | Sum (a, b) -> plus (differentiate a) (differentiate b)
    | Product (a, b) -> plus (times (differentiate a) b) (times a (differentiate b))
    | Power (base, n) -> times (times (Number n) (power base (n - 1))) (differentiate base)

  let rec derivative e order = if order = 0 then e else derivative (differentiate e) (order - 1)

  let rec build depth =
    if depth = 0 then X
    else if depth > 3 then Sum (build (depth - 1), build (depth - 1))
    else Sum (Product (Number depth, build (depth - 1)), Power (build (depth - 1), (depth mod 2) + 2))

  let rec nodes = function
    | Number _ | X -> 1
    | Sum (a, b) | Product (a, b) -> 1 + nodes a + nodes b
    | Power (base, _) -> 1 + nodes base

  let run depth order = [ nodes (derivative (build depth) order) ]
end

module Constant_folding = struct
  type expression =
    | Number of int
    | Variable of int
    | Sum of expression * expression
    | Product of expression * expression

  let rec build depth x =
    let choice = x / 65536 mod 8 in
    if depth = 0 then if choice < 3 then Variable choice else Number (x / 65536 mod 1000)
    else
      let left = build (depth - 1) (next x) and right = build (depth - 1) (next (x + depth)) in
      if choice < 6 then Sum (left, right) else Product (left, right)

  let modulo n = n mod 1000003

  let plus a b =
    match (a, b) with
    | Number m, Number n -> Number (modulo (m + n))
    | Number m, Sum (Number n, rest) -> Sum (Number (modulo (m + n)), rest)
    | Number 0, _ -> b
    | Number _, _ -> Sum (a, b)
    | Sum (Number m, rest), Number n -> Sum (Number (modulo (m + n)), rest)
    | Sum (Number m, rest), Sum (Number n, other) -> Sum (Number (modulo (m + n)), Sum (rest, other))
    | Sum (Number m, rest), _ -> Sum (Number m, Sum (rest, b))
    | _, Number 0 -> a
    | _, Number _ -> Sum (b, a)
    | _, Sum (Number n, other) -> Sum (Number n, Sum (a, other))
    | _ -> Sum (a, b)

  let times a b =
    match (a, b) with
    | Number m, Number n -> Number (modulo (m * n))
    | Number 0, _ -> a
    | Number 1, _ -> b
    | _, Number 0 -> b
    | _, Number 1 -> a
    | _ -> Product (a, b)

  let rec folded e =
    match e with
    | Sum (a, b) -> plus (folded a) (folded b)
    | Product (a, b) -> times (folded a) (folded b)
    | _ -> e

  let rec nodes = function Sum (a, b) | Product (a, b) -> 1 + nodes a + nodes b | _ -> 1

  let rec value = function
    | Number n -> n
    | Variable index -> index + 7
    | Sum (a, b) -> modulo (value a + value b)
    | Product (a, b) -> modulo (value a * value b)

  let run depth =
    let e = build depth 65539 in
    let f = folded e in
    [ nodes f; value e; value f ]
end

module List_queens = struct
  let rec safe (column : int) distance = function
    | [] -> true
    | other :: rest -> other <> column && abs (other - column) <> distance && safe column (distance + 1) rest

  let rec solutions_from column n left placed =
    if column > n then 0
    else
      (if safe column 1 placed then solutions n (left - 1) (column :: placed) else 0)
      + solutions_from (column + 1) n left placed

  and solutions n left placed = if left = 0 then 1 else solutions_from 1 n left placed

  let run n = [ solutions n n [] ]
end

module Mergesort = struct
  let rec numbers n x = if n = 0 then [] else x :: numbers (n - 1) (next x)
  let rec deal xs a b = match xs with [] -> (a, b) | x :: rest -> deal rest (x :: b) a

  let rec merge (a : int list) b =
    match (a, b) with
    | [], _ -> b
    | _, [] -> a
    | x :: xs, y :: ys -> if x <= y then x :: merge xs b else y :: merge a ys

  let rec sort xs =
    match xs with
    | _ :: _ :: _ ->
        let a, b = deal xs [] [] in
        merge (sort a) (sort b)
    | _ -> xs

  let rec checksum xs sum = match xs with [] -> sum | x :: rest -> checksum rest (((sum * 31) + x) mod 1000003)
  let run n = [ checksum (sort (numbers n 65539)) 0 ]
end

module Binary_trees = struct
  type tree = Leaf | Node of tree * tree

  let rec build depth = if depth = 0 then Leaf else Node (build (depth - 1), build (depth - 1))
  let rec count = function Leaf -> 1 | Node (left, right) -> count left + count right + 1
  let run depth = [ count (build depth) ]
end

module Long_list = struct
  let rec numbers i n = if i = n then [] else i :: numbers (i + 1) n
  let rec map f = function [] -> [] | x :: rest -> let y = f x in y :: map f rest
  let rec fold f sum = function [] -> sum | x :: rest -> fold f (f sum x) rest
  let odd x = (2 * x) + 1
  let run n = [ fold ( + ) 0 (map odd (numbers 0 n)) ]
end

let () =
  let argument i = int_of_string Sys.argv.(i) in
  let begin_ = Unix.gettimeofday () in
  let results =
    match Sys.argv.(1) with
    | "red_black" -> Red_black.run (argument 2)
    | "derivative" -> Derivative.run (argument 2) (argument 3)
    | "constant_folding" -> Constant_folding.run (argument 2)
    | "list_queens" -> List_queens.run (argument 2)
    | "mergesort" -> Mergesort.run (argument 2)
    | "binary_trees" -> Binary_trees.run (argument 2)
    | "long_list" -> Long_list.run (argument 2)
    | name -> failwith ("no program " ^ name)
  in
  let seconds = Unix.gettimeofday () -. begin_ in
  Printf.printf "{\"results\": [%s], \"seconds\": %.9f}\n" (String.concat ", " (List.map string_of_int results)) seconds
