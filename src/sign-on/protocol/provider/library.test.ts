import { randomBytes } from "node:crypto";
import { interactionPolicy, Provider } from "oidc-provider";
import library from "oidc-provider/package.json" with { type: "json" };
import { expect, test } from "vitest";
import { checkLibrary, constructProvider, makeCookieSignatures, reliances } from "./library.ts";

const signatures = makeCookieSignatures(randomBytes(32));
const makeProvider = () =>
  constructProvider("https://idp.example", { cookies: { keys: signatures } } as never, () => undefined);

test("the installed library has everything that is relied on", () => {
  expect(() => checkLibrary(makeProvider())).not.toThrow();
});

const fail = (): never => {
  throw new Error("unknown to the library");
};

const refusal = (name: string) =>
  `oidc-provider ${library.version} lacks what src/sign-on/protocol/provider/library.ts relies on: ${name}`;

const methods = reliances.map(({ name }) => name).filter((name) => /^[A-Z]\w+(\.\w+)+$/.test(name));

const fields = ["client", "available"];

test.each(methods.filter((name) => !fields.some((field) => name === `IdToken.prototype.${field}`)))(
  "a library without %s is refused",
  (name) => {
    const provider = makeProvider();
    const path = name.split(".");
    const last = path.pop()!;
    const owner = path.reduce<object>((of, part) => (of as Record<string, object>)[part]!, provider);
    Object.defineProperty(owner, last, { value: undefined });
    expect(() => checkLibrary(provider)).toThrow(refusal(name));
  },
);

test.each(fields)("a library whose ID tokens do not hold what is in %s is refused", (field) => {
  const provider = makeProvider();
  Object.defineProperty(provider.IdToken.prototype, field, { set: () => undefined, get: () => undefined });
  expect(() => checkLibrary(provider)).toThrow(refusal(`IdToken.prototype.${field}`));
});

test.each(["login", "consent"])("a library whose prompt %s has other checks is refused", (prompt) => {
  const policy = interactionPolicy.base();
  policy.get(prompt)!.checks.clear();
  expect(() => checkLibrary(makeProvider(), policy)).toThrow(`of the prompt ${prompt}`);
});

test("a library that signs cookies in another way is refused", () => {
  const [unsigned, other] = [makeProvider(), makeProvider()];
  Object.assign(unsigned, { createContext: () => ({ cookies: { set: () => undefined } }) });
  expect(() => checkLibrary(unsigned)).toThrow(refusal("cookie signatures"));
  Object.assign(other, { keys: ["a key of the library's own kind"] });
  expect(() => checkLibrary(other)).toThrow(refusal("cookie signatures"));
});

test.each<[string, (provider: Provider) => object]>([
  ["another cookie", () => ({ cookieName: fail })],
  ["another route", () => ({ pathFor: fail })],
  ["a path without the interaction", () => ({ pathFor: () => "/auth/resume" })],
  ["cookies that are signed in another way", () => ({ createContext: () => ({ cookies: { set() {}, get() {} } }) })],
])("a library that resumes with %s is refused", (_change, change) => {
  const provider = makeProvider();
  Object.assign(provider, change(provider));
  expect(() => checkLibrary(provider)).toThrow("the request to resume");
});

test("a library whose constructor registers its response modes in another way is refused", () => {
  const unchanged = new Provider("https://idp.example", { cookies: { keys: signatures } } as never);
  expect(() => checkLibrary(unchanged)).toThrow(refusal("registerResponseMode in the constructor"));
});

test("a library whose clients have no subject type is refused", () => {
  const provider = makeProvider();
  Object.defineProperty(provider, "Client", { value: function other() {} });
  expect(() => checkLibrary(provider)).toThrow("the subject type of a client");
});

test("a library whose contexts have a body of their own is refused", () => {
  const provider = makeProvider();
  Object.defineProperty(provider, "OIDCContext", {
    value: class extends provider.OIDCContext {
      override body = {};
    },
  });
  expect(() => checkLibrary(provider)).toThrow("the body of a context");
});

const signature = signatures.sign("_session=abc");

test("a signature holds for what it was made for, with the key it was made with", () => {
  expect(signatures.verify("_session=abc", signature)).toBe(true);
  expect(signatures.index("_session=abc", signature)).toBe(0);
  expect(signatures.index("_session=abd", signature)).toBe(-1);
  expect(makeCookieSignatures(randomBytes(32)).verify("_session=abc", signature)).toBe(false);
});

test.each(["", "x", signature.slice(1), `${signature}AAAA`, "ä".repeat(43)])("%j is no signature", (presented) => {
  expect(signatures.verify("_session=abc", presented)).toBe(false);
});
