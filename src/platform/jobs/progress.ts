const patienceMs = 2000;

export async function withProgress<T>(what: string, say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const elapsed = () => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  let told = 0;
  const tell = () => {
    told += 1;
    say(`${what} … (${elapsed()})`);
  };
  const again = setInterval(tell, 10_000);
  const first = setTimeout(tell, patienceMs);
  try {
    const result = await work();
    if (told > 0) say(`${what}: done after ${elapsed()}`);
    return result;
  } finally {
    clearInterval(again);
    clearTimeout(first);
  }
}
