// What the product has as WebAssembly is what its text form says, and the assembler refuses what it does not know.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { codeFileOf, codeModule, WAT_FILES } from '../../../core/build/wasm.ts';
import { assemble } from '../../../core/build/wat.ts';

interface Module {
  readonly exports: Readonly<Record<string, (...values: number[]) => number>>;
}

const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { instantiate(code: Uint8Array): Promise<{ readonly instance: Module }> };
};

async function exportsOf(text: string): Promise<Module['exports']> {
  return (await WebAssembly.instantiate(assemble(text))).instance.exports;
}

t.test('each module is up to date; npm run wasm writes it', async t => {
  for (const file of WAT_FILES) t.equal(await readFile(codeFileOf(file), 'utf8'), await codeModule(file), file);
});

t.test('functions, blocks, branches, the memory and globals do what they say', async t => {
  const { sum, number, kept, larger } = await exportsOf(`(module
    (memory (export "memory") 1)
    (global $kept (mut i32) (i32.const -70000)) ;; needs three bytes
    (func $add (param $one i32) (param $other i32) (result i32) (i32.add (local.get $one) (local.get $other)))
    (func (export "sum") (param $to i32) (result i32)
      (local $sum i32)
      (block $done
        (loop $next
          (br_if $done (i32.eqz (local.get $to)))
          (local.set $sum (call $add (local.get $sum) (local.get $to)))
          (local.set $to (i32.sub (local.get $to) (i32.const 1)))
          (br $next)))
      (local.get $sum))
    (func (export "number") (param $value i32) (result i32)
      (i32.store (i32.const 8) (local.get $value))
      (i32.or (i32.load8_u (i32.const 9)) (i32.shl (i32.load8_u (i32.const 8)) (i32.const 8))))
    (func (export "kept") (param $value i32) (result i32)
      (local $before i32)
      (local.set $before (global.get $kept))
      (global.set $kept (local.get $value))
      (local.get $before))
    (func (export "larger") (param $one i32) (param $other i32) (result i32)
      (if (i32.gt_u (local.get $one) (local.get $other))
        (then (return (local.get $one)))
        (else (return (local.get $other))))
      (unreachable)))`);
  t.equal(sum?.(200), 20_100);
  t.equal(number?.(0x1234), 0x3412);
  t.equal(kept?.(5), -70_000);
  t.equal(kept?.(6), 5);
  t.same([larger?.(7, 9), larger?.(9, 7)], [9, 9]);
});

t.test('what is not known is named', async t => {
  const within = (code: string) => () => assemble(`(module (func $one (param $here i32) ${code}))`);
  t.throws(within('(f64.sqrt (local.get $here))'), { message: /f64\.sqrt is not known/ });
  t.throws(within('(local.set $there (i32.const 1))'), { message: /\$there/ });
  t.throws(within('(br $outside)'), { message: /\$outside/ });
  t.throws(within('(call $other)'), { message: /\$other/ });
  t.throws(within('(call'), { message: /parentheses/ });
});
