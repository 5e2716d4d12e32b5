// Thrown for a value that its column in PostgreSQL cannot hold. It names the rule and never the value.
import type { TransferRule } from './task.ts';

export class ValueFault extends Error {
  readonly rule: TransferRule;

  constructor(rule: TransferRule) {
    super(rule);
    this.rule = rule;
  }
}
