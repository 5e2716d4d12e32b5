;; Finds the lines of a piece of output: where each begins, where it ends without blanks, its level, and whether it must
;; be looked at again for secrets or special characters. Also writes lines as they stand in a log. `npm run wasm` makes
;; line-scan-code.ts from this file; line-scan.ts has the addresses in the memory.
(module
  (memory (export "memory") 24)
  ;; Address for the numbers of the next line.
  (global $out (mut i32) (i32.const 0))
  ;; The flags of all lines so far.
  (global $any (mut i32) (i32.const 0))

  ;; 1 when three letters may be a part of a word that names a secret, by the lower five bits of each.
  (func $letters (param $at i32) (result i32)
    (i32.load8_u
      (i32.add
        (i32.const 0x10000)
        (i32.or
          (i32.shl (i32.and (i32.load8_u (local.get $at)) (i32.const 31)) (i32.const 10))
          (i32.or
            (i32.shl (i32.and (i32.load8_u (i32.add (local.get $at) (i32.const 1))) (i32.const 31)) (i32.const 5))
            (i32.and (i32.load8_u (i32.add (local.get $at) (i32.const 2))) (i32.const 31)))))))

  ;; The flags of a byte by itself: 1 when it may be a sign of a secret, 2 when it is not printable ASCII.
  (func $single (param $byte i32) (result i32)
    (i32.load8_u (i32.add (i32.const 0x18000) (local.get $byte))))

  ;; 1 when the byte at `at` is part of a word.
  (func $class (param $at i32) (result i32)
    (i32.load8_u (i32.add (i32.const 0x18100) (i32.load8_u (local.get $at)))))

  ;; For each of sixteen bytes, a bit for each beginning of level words that it may be a letter of, by its lower five
  ;; bits. The first half of a table is for the values below 16, the second for those from 16 on; for a byte of the
  ;; other half, swizzle gives 0.
  (func $stems (param $bytes v128) (param $table i32) (result v128)
    (local $codes v128)
    (local.set $codes (v128.and (local.get $bytes) (v128.const i8x16 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31)))
    (v128.or
      (i8x16.swizzle (v128.load (local.get $table)) (local.get $codes))
      (i8x16.swizzle
        (v128.load offset=16 (local.get $table))
        (v128.xor (local.get $codes) (v128.const i8x16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16)))))

  ;; Whether the word at `word` stands at `at` and ends there as a word, or at `limit`.
  (func $stands (param $word i32) (param $length i32) (param $at i32) (param $limit i32) (result i32)
    (local $index i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (if (i32.gt_u (local.get $end) (local.get $limit)) (then (return (i32.const 0))))
    (if (i32.lt_u (local.get $end) (local.get $limit))
      (then (if (call $class (local.get $end)) (then (return (i32.const 0))))))
    (loop $next
      (if (i32.ne
            (i32.and (i32.load8_u (i32.add (local.get $at) (local.get $index))) (i32.const 0xdf))
            (i32.load8_u (i32.add (local.get $word) (local.get $index))))
        (then (return (i32.const 0))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (local.get $length))))
    (i32.const 1))

  ;; The index of the level whose word comes first between `at` and `limit`; that of INFO when there is none.
  (func $level (param $at i32) (param $limit i32) (result i32)
    (local $start i32)
    (local $found i32)
    (local $place i32)
    (local $word i32)
    (local $length i32)
    (local.set $start (local.get $at))
    (loop $blocks
      (if (i32.ge_u (local.get $at) (local.get $limit)) (then (return (i32.const 1))))
      ;; The places where the first three letters of a level word may stand.
      (local.set $found
        (i8x16.bitmask
          (i8x16.ne
            (v128.and
              (call $stems (v128.load (local.get $at)) (i32.const 0x18340))
              (v128.and
                (call $stems (v128.load offset=1 (local.get $at)) (i32.const 0x18360))
                (call $stems (v128.load offset=2 (local.get $at)) (i32.const 0x18380))))
            (v128.const i64x2 0 0))))
      (block $none
        (loop $places
          (br_if $none (i32.eqz (local.get $found)))
          (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $found))))
          (local.set $found (i32.and (local.get $found) (i32.sub (local.get $found) (i32.const 1))))
          (if (i32.gt_u (local.get $place) (local.get $start))
            (then (br_if $places (call $class (i32.sub (local.get $place) (i32.const 1))))))
          ;; Each word has its length, the index of its level, and its letters in upper case.
          (local.set $word (i32.const 0x18200))
          (loop $words
            (local.set $length (i32.load8_u (local.get $word)))
            (br_if $places (i32.eqz (local.get $length)))
            (if (call $stands
                  (i32.add (local.get $word) (i32.const 2)) (local.get $length) (local.get $place) (local.get $limit))
              (then (return (i32.load8_u (i32.add (local.get $word) (i32.const 1))))))
            (local.set $word (i32.add (local.get $word) (i32.const 16)))
            (br $words))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $blocks))
    (unreachable))

  ;; Writes the numbers of a line, unless the line is empty.
  (func $line (param $start i32) (param $end i32) (param $holds i32) (param $shift i32)
    (local $last i32)
    (local $byte i32)
    (local.set $last (local.get $end))
    (block $trimmed
      (loop $blank
        (if (i32.eq (local.get $last) (local.get $start)) (then (return)))
        (local.set $byte (i32.load8_u (i32.sub (local.get $last) (i32.const 1))))
        (br_if $trimmed
          (i32.and
            (i32.ne (local.get $byte) (i32.const 0x20))
            (i32.gt_u (i32.sub (local.get $byte) (i32.const 9)) (i32.const 4))))
        (local.set $last (i32.sub (local.get $last) (i32.const 1)))
        (br $blank)))
    ;; A character that cannot be printed may be one of the blanks that were cut off.
    (if (i32.and (i32.shr_u (local.get $holds) (i32.const 1)) (i32.ne (local.get $last) (local.get $end)))
      (then (local.set $holds (i32.const 1))))
    ;; Lines of JSON may name their level in a member, and long lines must be cut.
    (if (i32.eq (i32.load8_u (local.get $start)) (i32.const 0x7b))
      (then (local.set $holds (i32.or (local.get $holds) (i32.const 4)))))
    (if (i32.gt_u (i32.sub (local.get $last) (local.get $start)) (i32.const 0x10000))
      (then (local.set $holds (i32.or (local.get $holds) (i32.const 2)))))
    (i32.store (global.get $out)
      (i32.or
        (call $level (local.get $start)
          (select
            (i32.add (local.get $start) (i32.const 80))
            (local.get $last)
            (i32.lt_u (i32.add (local.get $start) (i32.const 80)) (local.get $last))))
        (i32.shl (local.get $holds) (i32.const 3))))
    (i32.store (i32.add (global.get $out) (i32.const 4)) (i32.add (local.get $start) (local.get $shift)))
    (i32.store (i32.add (global.get $out) (i32.const 8)) (i32.add (local.get $last) (local.get $shift)))
    (global.set $out (i32.add (global.get $out) (i32.const 12)))
    (global.set $any (i32.or (global.get $any) (local.get $holds))))

  ;; Writes the numbers of the lines up to `to`, where the last line ends with a line break and spaces follow. Their
  ;; places are `shift` more than the addresses in the memory. Returns the flags of all lines.
  (func (export "scan") (param $at i32) (param $to i32) (param $out i32) (param $shift i32) (result i32)
    (local $start i32)
    (local $holds i32)
    (local $four i32)
    (local $limit i32)
    (local $pair i32)
    (local $low i32)
    (local $high i32)
    (global.set $out (local.get $out))
    (global.set $any (i32.const 0))
    (local.set $start (local.get $at))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $to)))
        ;; Most blocks of sixteen bytes hold nothing, as their eight pairs show.
        (if (i32.eqz
              (i32.or
                (i32.or
                  (i32.or
                    (i32.load8_u (i32.load16_u (local.get $at)))
                    (i32.load8_u (i32.load16_u offset=2 (local.get $at))))
                  (i32.or
                    (i32.load8_u (i32.load16_u offset=4 (local.get $at)))
                    (i32.load8_u (i32.load16_u offset=6 (local.get $at)))))
                (i32.or
                  (i32.or
                    (i32.load8_u (i32.load16_u offset=8 (local.get $at)))
                    (i32.load8_u (i32.load16_u offset=10 (local.get $at))))
                  (i32.or
                    (i32.load8_u (i32.load16_u offset=12 (local.get $at)))
                    (i32.load8_u (i32.load16_u offset=14 (local.get $at)))))))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $next)))
        (local.set $limit (i32.add (local.get $at) (i32.const 16)))
        (loop $fours
          (local.set $four (i32.load (local.get $at)))
          (if (i32.or
                (i32.load8_u (i32.and (local.get $four) (i32.const 0xffff)))
                (i32.load8_u (i32.shr_u (local.get $four) (i32.const 16))))
            (then
              (local.set $pair (local.get $at))
              (loop $pairs
                (local.set $low (i32.load8_u (local.get $pair)))
                (local.set $high (i32.load8_u (i32.add (local.get $pair) (i32.const 1))))
                (if (i32.or (i32.eq (local.get $low) (i32.const 10)) (i32.eq (local.get $high) (i32.const 10)))
                  (then
                    ;; No word crosses the end of a line.
                    (if (i32.eq (local.get $low) (i32.const 10))
                      (then
                        (call $line (local.get $start) (local.get $pair) (local.get $holds) (local.get $shift))
                        (local.set $start (i32.add (local.get $pair) (i32.const 1)))
                        (local.set $holds (i32.const 0)))
                      (else (local.set $holds (i32.or (local.get $holds) (call $single (local.get $low))))))
                    (if (i32.eq (local.get $high) (i32.const 10))
                      (then
                        (call $line (local.get $start)
                          (i32.add (local.get $pair) (i32.const 1)) (local.get $holds) (local.get $shift))
                        (local.set $start (i32.add (local.get $pair) (i32.const 2)))
                        (local.set $holds (i32.const 0)))
                      (else (local.set $holds (i32.or (local.get $holds) (call $single (local.get $high)))))))
                  (else
                    (if (i32.load8_u (i32.or (local.get $low) (i32.shl (local.get $high) (i32.const 8))))
                      (then
                        (local.set $holds
                          (i32.or
                            (i32.or (local.get $holds) (call $letters (local.get $pair)))
                            (i32.or
                              (call $letters (i32.sub (local.get $pair) (i32.const 1)))
                              (i32.or (call $single (local.get $low)) (call $single (local.get $high))))))))))
                (local.set $pair (i32.add (local.get $pair) (i32.const 2)))
                (br_if $pairs (i32.lt_u (local.get $pair) (i32.add (local.get $at) (i32.const 4)))))))
          (local.set $at (i32.add (local.get $at) (i32.const 4)))
          (br_if $fours (i32.lt_u (local.get $at) (local.get $limit))))
        (br $next)))
    (global.get $any))

  ;; Copies sixteen bytes at a time, so that up to fifteen bytes behind the end change. Returns the end of the copy.
  (func $copy (param $from i32) (param $to i32) (param $out i32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (i32.sub (local.get $to) (local.get $from))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $to)))
        (v128.store (local.get $out) (v128.load (local.get $from)))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (br $next)))
    (local.get $end))

  ;; Writes the lines of a table of numbers, each behind the prefix of its level. Lines of a level without a prefix are
  ;; left out. Returns the end of what was written.
  (func (export "format") (param $table i32) (param $end i32) (param $shift i32) (param $out i32) (result i32)
    (local $level i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $table) (local.get $end)))
        ;; The addresses of the begin and the end of the level's prefix.
        (local.set $level
          (i32.add
            (i32.const 0x18300)
            (i32.shl (i32.and (i32.load (local.get $table)) (i32.const 7)) (i32.const 3))))
        (if (i32.load (local.get $level))
          (then
            (local.set $out
              (call $copy
                (i32.load (local.get $level))
                (i32.load (i32.add (local.get $level) (i32.const 4)))
                (local.get $out)))
            (local.set $out
              (call $copy
                (i32.sub (i32.load (i32.add (local.get $table) (i32.const 4))) (local.get $shift))
                (i32.sub (i32.load (i32.add (local.get $table) (i32.const 8))) (local.get $shift))
                (local.get $out)))
            (i32.store8 (local.get $out) (i32.const 10))
            (local.set $out (i32.add (local.get $out) (i32.const 1)))))
        (local.set $table (i32.add (local.get $table) (i32.const 12)))
        (br $next)))
    (local.get $out))

  ;; The end of the table of numbers.
  (func (export "end") (result i32) (global.get $out)))
