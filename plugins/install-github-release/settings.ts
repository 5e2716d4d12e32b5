// The settings for GitHub: the token for requests, and how long to wait when its limits are reached.
import { z } from 'zod';

export const githubSection = z.object({
  github_token: z
    .string()
    .max(4_096)
    .default('')
    .meta({ secret: true, description: 'token for GitHub: more requests an hour, and private repositories' }),
  github_username: z.string().max(200).default('').describe('to whom the token belongs'),
  github_rate_limit_max_wait_seconds: z
    .int()
    .min(0)
    .max(3_600)
    .default(300)
    .describe('how long an installation waits until GitHub allows requests again; 0: it fails at once'),
});

export interface GithubSettings {
  /** '' for requests without a token. */
  readonly token: string;
  readonly maxWaitS: number;
}

/** Reads the settings from the section `dumb`. */
export function settingsIn(section: unknown): GithubSettings {
  const { github_token, github_rate_limit_max_wait_seconds } = githubSection.parse(section);
  return { token: github_token.trim(), maxWaitS: github_rate_limit_max_wait_seconds };
}
