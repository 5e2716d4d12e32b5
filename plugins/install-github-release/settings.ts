// What the configuration says of GitHub: in whose name it is asked, and how long its limits are waited for.
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
  /** Empty: nobody's. */
  readonly token: string;
  readonly maxWaitS: number;
}

/** From the section `dumb`. */
export function settingsIn(section: unknown): GithubSettings {
  const { github_token, github_rate_limit_max_wait_seconds } = githubSection.parse(section);
  return { token: github_token.trim(), maxWaitS: github_rate_limit_max_wait_seconds };
}
