// The facts in a template about a program that is published as a container image.
import { z } from 'zod';

export const imageFacts = z.lazy(() =>
  z.strictObject({
    registry: z
      .string()
      .regex(/^[a-z0-9.-]+(:\d+)?$/)
      .describe('host of the registry, as in `ghcr.io`'),
    image: z
      .string()
      .regex(/^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/)
      .describe('name of its repository there'),
    reference: z.string().default('latest').describe('tag of the newest image'),
    paths: z.record(z.string(), z.string()).describe('which paths of the image are wanted, and what they become'),
  }),
);
