// Numbers and times as people read them.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const STEP = 1_024;
const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

export function bytesText(bytes: number | null): string {
  if (bytes === null) return '–';
  let value = bytes;
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function rateText(bytesPerS: number | null): string {
  return bytesPerS === null ? '–' : `${bytesText(bytesPerS)}/s`;
}

export function percentText(percent: number | null): string {
  return percent === null ? '–' : `${percent.toFixed(1)} %`;
}

/** How long ago a time in Unix seconds was, in its two largest units. */
export function ageText(sinceS: number, nowS = Date.now() / 1_000): string {
  const age = Math.max(0, Math.floor(nowS - sinceS));
  if (age < MINUTE_S) return `${age} s`;
  if (age < HOUR_S) return `${Math.floor(age / MINUTE_S)} min ${age % MINUTE_S} s`;
  if (age < DAY_S) return `${Math.floor(age / HOUR_S)} h ${Math.floor((age % HOUR_S) / MINUTE_S)} min`;
  return `${Math.floor(age / DAY_S)} d ${Math.floor((age % DAY_S) / HOUR_S)} h`;
}

/** A time in Unix seconds, as precise as marks that are `stepS` seconds apart need it. */
export function clockText(timeS: number, stepS: number): string {
  const time = new Date(timeS * 1_000);
  if (stepS >= DAY_S) return time.toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
  const seconds = stepS < MINUTE_S ? ({ second: '2-digit' } as const) : {};
  return time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false, ...seconds });
}
