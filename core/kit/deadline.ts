// Nothing waits without a deadline: whoever waits gives up in time and says for what it waited.

/** Rejects when `run` takes longer than `ms`, naming `what`. The work itself cannot be taken back. */
export async function withDeadline<Value>(run: () => Value | Promise<Value>, ms: number, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}
