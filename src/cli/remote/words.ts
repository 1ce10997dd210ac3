/** The words of a command as they are written to be read: `login https://…` stands for `remote login https://…`. */
export function leadOn(words: readonly string[]): string[] {
  const [first, ...rest] = words;
  const isLogin = first === "login" && rest.some((word) => /^https?:\/\//i.test(word));
  return isLogin ? ["remote", ...words] : [...words];
}
