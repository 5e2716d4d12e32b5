// The facts in a template about a program whose vendor announces archives in a feed of its own.
import { z } from 'zod';

/** Addresses may hold `{version}`, and the names of `words` and of options of the block in braces. */
export const vendorFacts = z.lazy(() =>
  z.strictObject({
    words: z
      .record(z.string(), z.partialRecord(z.enum(['amd64', 'arm64', 'arm']), z.string()))
      .describe('what the vendor calls an architecture, by the names in addresses'),
    feed: z
      .strictObject({
        url: z.string(),
        version: z.string().regex(/^\w+@\w+$/),
        archive: z.string().regex(/^\w+@\w+$/),
        token: z
          .strictObject({
            header: z.string().regex(/^[\w-]+$/),
            file: z.string(),
            member: z.tuple([z.string(), z.string()]),
          })
          .optional()
          .describe('sent with the question where a file of the service has it, by which its vendor knows its owner'),
      })
      .optional()
      .describe('XML about the newest release: element and attribute that hold its version and its address'),
    changes: z
      .string()
      .optional()
      .describe('JSON list of releases, each with `version`, `url` and a `hash` of SHA-256 or SHA-512'),
    latest: z.string().optional().describe('redirects to the newest archive; asked where the list gives nothing'),
    fallback: z.string().optional().describe('the same, asked where that gives nothing'),
    pinned: z.string().optional().describe('the archive of a version that the list does not have'),
    release: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('facts for the source `github-release`, from which releases come that are selected by their tag'),
    paths: z.record(z.string(), z.string()).optional().describe('which paths of the archive are wanted; default all'),
  }),
);

export type VendorFacts = z.output<typeof vendorFacts>;
