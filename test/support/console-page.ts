// Opens the console in a browser, records faults such as errors and requests to elsewhere, and examines what it shows.
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';

const PATIENCE_MS = 120_000;
/** Messages of the browser about failed answers, which tests provoke on purpose. */
const PROVOKED = /Failed to load resource|WebSocket connection to/;

export interface WatchedPage {
  readonly page: Page;
  /** Errors, violations of the content security policy, and requests to other origins. */
  readonly faults: readonly string[];
}

export async function openWatched(browser: Browser, origins: readonly string[]): Promise<WatchedPage> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, locale: 'en-US' });
  page.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error' && !PROVOKED.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', error => faults.push(String(error.stack)));
  page.on('request', sent => {
    if (!sent.url().startsWith('data:') && !origins.includes(new URL(sent.url()).origin)) faults.push(sent.url());
  });
  return { page, faults };
}

/** Serious violations of accessibility rules on the page as it is now, one sentence each. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ impact, id, nodes }) => ({ impact, text: id + ': ' + nodes.map(node => node.html).join(' ') })))`)) as {
    impact: string;
    text: string;
  }[];
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ text }) => text);
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** How many pixels have each colour, as `r,g,b`. */
  readonly pixels: Readonly<Record<string, number>>;
}

/** The colours of a PNG image; `blank` is a page without a content security policy. */
export async function pictureOf(blank: Page, png: Buffer): Promise<Picture> {
  return (await blank.evaluate(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png.toString('base64')}';
    await image.decode();
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const pixels = {};
    for (let at = 0; at < data.length; at += 4) {
      const colour = data[at] + ',' + data[at + 1] + ',' + data[at + 2];
      pixels[colour] = (pixels[colour] ?? 0) + 1;
    }
    return { width, height, pixels };
  })()`)) as Picture;
}
