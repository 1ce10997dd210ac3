import { expect, test } from "vitest";
import { hashPassword, isPasswordOf, makeUnmatchableHash } from "./password.ts";
import { foldUsername } from "./credential.ts";

test("a password is kept as argon2id with 19 MiB, two passes and a salt of its own", async () => {
  const [first, second] = await Promise.all([hashPassword("geheim"), hashPassword("geheim")]);
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(second).not.toBe(first);
});

test("only the password itself matches", async () => {
  const hash = await hashPassword("geheim");
  expect(await isPasswordOf(hash, "geheim")).toBe(true);
  expect(await isPasswordOf(hash, "Geheim")).toBe(false);
  expect(await isPasswordOf(makeUnmatchableHash(), "geheim")).toBe(false);
});

test("an umlaut is the same whichever way the keyboard composes it", async () => {
  expect(await isPasswordOf(await hashPassword("Tür"), "Tu\u0308r")).toBe(true);
});

test("a hash made elsewhere with other parameters matches too", async () => {
  // The vector of the argon2 reference implementation.
  const other = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  expect(await isPasswordOf(other, "password")).toBe(true);
  expect(await isPasswordOf(other, "passwort")).toBe(false);
  await expect(isPasswordOf("$2b$10$nope", "password")).rejects.toThrow("not an argon2id PHC string");
});

test("a user name is one account in whatever case or width it is typed", () => {
  for (const typed of ["Student.Goethe", " student.goethe ", "ＳＴＵＤＥＮＴ.goethe"]) {
    expect(foldUsername(typed)).toBe("student.goethe");
  }
});
