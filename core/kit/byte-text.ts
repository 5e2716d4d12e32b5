// A number of bytes as people read it.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const STEP = 1024;

export function byteText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(STEP)));
  const value = bytes / STEP ** unit;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
