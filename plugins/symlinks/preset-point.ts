// The schema of presets of repair rules.
import { z } from 'zod';
import type { PointOptions } from '#core';

const prefix = z.string().min(1);

export const presetPoint: PointOptions = {
  schema: z.looseObject({ rules: z.array(z.looseObject({ from_prefix: prefix, to_prefix: prefix })).min(1) }),
};
