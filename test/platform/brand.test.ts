import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/index.ts";
import { useBrand } from "../../src/platform/pages/index.ts";
import { startService } from "../support/service.ts";

const folder = await mkdtemp(join(tmpdir(), "brand-"));
const logo = join(folder, "logo.svg");
await writeFile(logo, '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>');

const standard = readConfig({ NODE_ENV: "test" }).brand;
afterAll(() => useBrand(standard));

test("every page carries the name, logo, colour and links of the operator", async () => {
  const { url } = await startService({
    env: {
      PAGES_NAME: "Portal <Nord>",
      PAGES_LOGO: logo,
      PAGES_COLOUR: "#5a2a82",
      LEGAL_NOTICE_URL: "https://nord.example/impressum",
      HELP_URL: "https://nord.example/hilfe",
    },
  });
  for (const path of ["/", "/sign-in", "/nowhere"]) {
    const html = await (await fetch(url + path, { headers: { accept: "text/html", "accept-language": "de" } })).text();
    expect(html).toContain("Portal &lt;Nord&gt;");
    expect(html).toContain('<a href="https://nord.example/impressum">Impressum</a>');
    expect(html).toContain('<a href="https://nord.example/hilfe">Hilfe</a>');
    expect(html).not.toContain("Datenschutz");
    const addressOf = (pattern: RegExp) => url + String(pattern.exec(html)?.[1]);
    const answered = await fetch(addressOf(/href="(\/assets\/brand-[^"]+)"/));
    expect(answered.headers.get("content-type")).toContain("text/css");
    expect(await answered.text()).toContain("--gate: #5a2a82");
    expect((await fetch(addressOf(/src="(\/assets\/logo-[^"]+)"/))).status).toBe(200);
  }
});

test("a finder of a weakness reads whom to tell, and a password manager finds the page for a new password", async () => {
  const { url, clock } = await startService({ env: { SECURITY_CONTACT: "mailto:security@nord.example" } });
  const answered = await fetch(`${url}/.well-known/security.txt`);
  expect([answered.status, answered.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  const fields = new Map(
    (await answered.text())
      .trim()
      .split("\n")
      .map((line) => line.split(": ") as [string, string]),
  );
  const expires = Date.parse(fields.get("Expires")!) - clock().getTime();
  expect([expires > 0, expires < 365 * 86_400_000]).toEqual([true, true]);
  expect([fields.get("Contact"), fields.get("Canonical"), fields.get("Preferred-Languages")]).toEqual([
    "mailto:security@nord.example",
    `${url}/.well-known/security.txt`,
    "de, en",
  ]);
  const page = await fetch(`${url}/.well-known/change-password`, { redirect: "manual" });
  expect([page.status, page.headers.get("location")]).toEqual([302, "/sign-in/password"]);
  expect((await fetch(url + page.headers.get("location")!)).status).toBe(200);
  const without = await startService();
  expect((await fetch(`${without.url}/.well-known/security.txt`)).status).toBe(404);
});

test.each([
  ["PAGES_COLOUR", "#ffcc00", "darker"],
  ["PAGES_COLOUR", "green", "hexadecimal"],
  ["PAGES_LOGO", join(folder, "missing.svg"), "no such file"],
  ["PAGES_LOGO", "/etc/passwd", "SVG or PNG"],
  ["PRIVACY_URL", "javascript:alert(1)", "https://"],
])("%s=%s is refused with what to do", (name, value, hint) => {
  expect(() => readConfig({ NODE_ENV: "test", [name]: value })).toThrow(hint);
});
