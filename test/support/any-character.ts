// Every character of Unicode as a unit of random strings. The unit `binary` of fast-check takes a second to build.
import fc from 'fast-check';

export const ANY_CHARACTER = fc
  .oneof(fc.nat(0xd7_ff), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map(code => String.fromCodePoint(code));
