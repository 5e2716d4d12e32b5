// A process that claims a configuration directory whenever it is told to, for races between hosts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type InstanceLock, lockInstance } from '../../core/cli/instance-lock.ts';
import { TYPESCRIPT } from './typescript.ts';

const thisFile = fileURLToPath(import.meta.url);

export interface Claimant {
  /** Resolves with null when the claim succeeds, else with the reason of its refusal. */
  claim(): Promise<string | null>;
  release(): Promise<void>;
  end(): void;
}

/** Resolves when the process is ready for its first claim. */
export async function startClaimant(configDir: string): Promise<Claimant> {
  const child = spawn(process.execPath, [TYPESCRIPT, thisFile, configDir], {
    env: { ...process.env, NODE_OPTIONS: '', TAP: '' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return {
    claim: async () => (await order(child, 'claim')) as string | null,
    release: async () => void (await order(child, 'release')),
    end: () => child.kill('SIGKILL'),
  };
}

async function order(child: ChildProcess, what: 'claim' | 'release'): Promise<unknown> {
  const answered = once(child, 'message');
  child.send(what);
  const [answer] = (await answered) as [{ value: unknown }];
  return answer.value;
}

if (process.argv[1] === thisFile) {
  let lock: InstanceLock | undefined;
  const answer = (value: unknown): void => void process.send?.({ value });
  process.on('message', async (what: 'claim' | 'release') => {
    try {
      if (what === 'release') await lock?.release();
      else lock = await lockInstance(process.argv[2] ?? '');
      answer(null);
    } catch (error) {
      answer((error as Error).message);
    }
  });
  answer('ready');
}
