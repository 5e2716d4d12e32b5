// The words that lines with secrets contain. There may be many, but most lines of output must not resemble them.
import t from 'tap';
import { SECRET_WORDS } from '../../../core/kit/redact.ts';

/** A word that is part of one of these lines makes the capture of output three times as slow. */
const ORDINARY_LINES = [
  '2026-01-02 03:04:05 INFO [import] something happened with an item of the library of films',
  '2026-11-27 13:20:21 [Info] RssSyncService: RSS Sync Completed. Reports found: 100, Reports grabbed: 0',
  '[11-27 13:20:21] INFO: Starting background task to scan library folder /mnt/media/movies',
  '2026-11-27T13:20:21Z GET /api/v3/queue 200 12ms',
  '[Info] DownloadedEpisodesImportService: Importing Show.S01E02.1080p.WEB.H264-GROUP from /mnt/debrid/shows',
  '[Debug] Scheduler: Pending Tasks: Refresh Monitored Downloads, Messaging Cleanup',
  '2026-11-27 13:20:21,123 - INFO - Processed 25 items in 3.2 seconds; waiting 60 seconds',
  '{"level":"info","time":"2026-11-27T13:20:21.000Z","msg":"scrape finished","count":42}',
  'LOG:  checkpoint complete: wrote 42 buffers (0.3%); 0 WAL file(s) added, 0 removed',
  '127.0.0.1 - - [27/Nov/2026:13:20:21 +0000] "GET /index.html HTTP/1.1" 200 612',
  'Torrent added: Some.Movie.2024.2160p.UHD.BluRay.x265',
];

t.test('ordinary lines need no closer examination', async t => {
  const { pairs, letters } = SECRET_WORDS.tables();
  const lookedAt = (line: string): string[] => {
    const codes = [...Buffer.from(line)];
    return codes.flatMap((first, at) => {
      const [second, third] = [codes[at + 1], codes[at + 2]];
      if (second === undefined || third === undefined) return [];
      const isWorth = pairs[first | (second << 8)] === 1 || pairs[second | (third << 8)] === 1;
      const isKnown = letters[((first & 31) << 10) | ((second & 31) << 5) | (third & 31)] === 1;
      return isWorth && isKnown ? [line.slice(at, at + 3)] : [];
    });
  };
  for (const line of ORDINARY_LINES) t.same(lookedAt(line), [], line);
  t.not(lookedAt('password=abc').length, 0);
});
