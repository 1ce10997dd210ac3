import { expect, test } from "vitest";
import { demoLogin, startDemo } from "../../support/api.ts";
import { makeBrowser } from "../../support/browser.ts";

const service = await startDemo();

async function goOnTo(path: string): Promise<string | null> {
  const browser = makeBrowser(service.url);
  const address = `/sign-in?return=${encodeURIComponent(path)}`;
  const form = await browser.open(address);
  const action = /<form method="post" action="([^"]+)"/.exec(form.html)![1]!.replaceAll("&amp;", "&");
  const body = new URLSearchParams({ csrf: /name="csrf" value="([^"]+)"/.exec(form.html)![1]!, ...demoLogin(2) });
  return (await browser.once(action, { method: "POST", body })).headers.get("location");
}

test("after signing in a person gets to the page that sent them, also in the other language and after a wrong password", async () => {
  expect(await goOnTo("/admin/people?search=Bo&page=2")).toBe("/admin/people?search=Bo&page=2");
  const browser = makeBrowser(service.url);
  const german = await browser.open("/sign-in?return=%2Fadmin&lang=de");
  expect(german.html).toContain('action="/sign-in?return=%2Fadmin"');
  expect(german.html).toContain('href="/sign-in?return=%2Fadmin&amp;lang=en"');
  const again = await browser.submit(german, "/sign-in", { ...demoLogin(2), password: "falsch" });
  expect(again.status).toBe(422);
  expect(again.html).toContain('action="/sign-in?return=%2Fadmin"');
});

test.each(["https://evil.example/", "//evil.example", "/\\evil.example", "/.//evil.example", "javascript:alert(1)"])(
  "%s is no page to go on to",
  async (path) => expect(await goOnTo(path)).toBe("/"),
);

test("a person who is signed in goes on at once", async () => {
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", demoLogin(2));
  expect((await browser.once("/sign-in?return=%2Fadmin")).headers.get("location")).toBe("/admin");
  expect((await browser.once("/sign-in?return=%2F%2Fevil.example")).headers.get("location")).toBe("/");
});
