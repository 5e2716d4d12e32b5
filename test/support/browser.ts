// Launches a real browser for tests: Debian's Chromium, which is installed when it is missing.
import { type Browser, chromium } from 'playwright-core';
import { programOf } from './debian.ts';

export async function launchBrowser(): Promise<Browser> {
  const executablePath = await programOf(
    ['chromium-headless-shell', 'chromium', 'google-chrome'],
    ['chromium-headless-shell'],
  );
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
