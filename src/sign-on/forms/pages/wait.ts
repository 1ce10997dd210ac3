/** Says a wait in the unit a person would: seconds below a minute, then minutes, rounded up. */
export function inMinutes(seconds: number): { unit: "seconds" | "minutes"; count: number } {
  return seconds < 60
    ? { unit: "seconds", count: Math.max(1, Math.ceil(seconds)) }
    : { unit: "minutes", count: Math.ceil(seconds / 60) };
}
