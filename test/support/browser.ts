// A real browser for tests: Debian's Chromium, installed when it is missing.
import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { until } from './until.ts';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 300_000;

export async function launchBrowser(): Promise<Browser> {
  const executablePath = (await findChromium()) ?? (await installChromium());
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

async function findChromium(): Promise<string | undefined> {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const found = await run('which', [name]).catch(() => undefined);
    if (found !== undefined) return found.stdout.trim();
  }
  return undefined;
}

/** One test file installs, the others wait for it. */
async function installChromium(): Promise<string> {
  const lock = path.join(tmpdir(), 'stackwarden-test-chromium.lock');
  const holds = await mkdir(lock).then(
    () => true,
    () => false,
  );
  if (!holds) return until(findChromium, { timeoutMs: INSTALL_LIMIT_MS, what: 'another test to install chromium' });
  try {
    const options = { timeout: INSTALL_LIMIT_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    await run('apt-get', ['update'], options);
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], options);
  } catch (error) {
    throw new Error('these tests need chromium, which apt-get could not install', { cause: error });
  } finally {
    await rm(lock, { recursive: true });
  }
  const installed = await findChromium();
  if (installed === undefined) throw new Error('chromium was installed but is not on PATH');
  return installed;
}
