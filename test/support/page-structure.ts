/**
 * What a screen reader finds wrong with the order of a page: a heading that skips a level, and landmarks of one kind
 * that nothing tells apart.
 */
export function findStructureFaults(html: string): string[] {
  const levels = [...html.matchAll(/<h([1-6])[\s>]/g)].map(([, level]) => Number(level));
  const skips = levels.flatMap((level, n) =>
    level > (levels[n - 1] ?? 0) + 1 ? [`h${level} after h${levels[n - 1]}`] : [],
  );
  const landmarks = [...html.matchAll(/<(nav|form|section|div)\b([^>]*)>/g)].flatMap(
    ([, tag = "", attributes = ""]) => {
      const role = /role="(search|region|navigation)"/.exec(attributes)?.[1] ?? (tag === "nav" ? "navigation" : null);
      const name = /aria-label(?:ledby)?="([^"]*)"/.exec(attributes)?.[1] ?? "";
      return role === null ? [] : [`${role} ${name}`];
    },
  );
  const twice = landmarks.filter((one, n) => landmarks.indexOf(one) < n).map((one) => `two landmarks: ${one}`);
  return [...skips, ...twice];
}
