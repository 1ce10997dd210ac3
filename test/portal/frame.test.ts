import { Agent, request, type RequestOptions } from "node:http";
import { describe, expect, test } from "vitest";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, signIn } from "../support/portal.ts";
import { startService } from "../support/service.ts";
import { signOutPerson } from "../support/sign-ins.ts";

const service = await startService();
const make = makeMakers(service.db);
const { browser } = await makePortalUser(service, "OPERATOR");

describe("who may enter", () => {
  test("a stranger is sent to the sign-in, and from there back to the page", async () => {
    const { username, password } = await makePortalUser(service, "OPERATOR");
    const stranger = makeBrowser(service.url);
    const asked = await stranger.open("/admin/schools?search=Goethe");
    expect(new URL(asked.url).pathname).toBe("/sign-in");
    const shown = await stranger.submit(asked, "/sign-in", { username, password });
    expect(new URL(shown.url).pathname + new URL(shown.url).search).toBe("/admin/schools?search=Goethe");
  });

  test("an operator chooses a school by its name, without scripts", async () => {
    const one = await make.school({ name: "Ähren-Schule" });
    await make.school({ name: "Zeder-Schule" });
    const { html } = await browser.open("/admin?search=%C3%84hren");
    expect(html).toContain(`/admin/schools/${one}/today`);
    expect(html).not.toContain("Zeder");
  });
});

describe("pages", () => {
  test("are not kept by anybody, run scripts of this origin only, and speak the reader's language", async () => {
    const operator = await makePortalUser(service, "OPERATOR");
    const page = await operator.browser.open("/admin/schools");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(page.html).toContain('<html lang="de">');
    expect((await operator.browser.open("/admin/schools?lang=en")).html).toContain("Find a school");
  });

  test("a name is text, whatever it holds", async () => {
    const school = await make.school({ name: `<script>alert("1")</script>` });
    const secretary = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
    const { html } = await secretary.browser.open("/admin/schools");
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toContain("<script>alert");
  });
});

test("every page of a school says its name, to operators too, and the account leads back to one's only school", async () => {
  const school = await make.school({ name: "Kastanien-Schule" });
  expect((await browser.open(`/admin/schools/${school}/classes`)).html).toContain("Kastanien-Schule");
  const secretary = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  expect((await secretary.browser.open("/account")).html).toContain(`/admin/schools/${school}/people`);
});

describe("forms", () => {
  const filled = {
    name: "Linden-Schule",
    address: "Weg 1",
    zipCode: "26121",
    city: "Musterstadt",
    state: "NI",
    schoolingLevel: "GRUNDSCHULE",
  };
  const countOf = (officialId: string) => service.db.prisma.school.count({ where: { officialId } });

  test("lead to the page of what they made, and count once however often they are sent", async () => {
    const page = await browser.open("/admin/schools/new");
    const made = await browser.submit(page, "/new", { ...filled, officialId: "F-1" });
    expect(new URL(made.url).pathname).toMatch(/^\/admin\/schools\/[0-9a-f-]{36}\/today$/);
    const again = await browser.submit(page, "/new", { ...filled, officialId: "F-1" });
    expect(new URL(again.url).pathname).toBe(new URL(made.url).pathname);
    expect(await countOf("F-1")).toBe(1);
  });

  test("with a postal code of four digits say so beside the field", async () => {
    const page = await browser.open("/admin/schools/new");
    const refused = await browser.submit(page, "/new", { ...filled, officialId: "F-9", zipCode: "2612" });
    expect([refused.status, refused.html.match(/aria-describedby="zipCode-fault"/g)?.length]).toEqual([400, 1]);
    expect(refused.html).toContain('id="zipCode-fault"');
  });

  test("that are refused show the page again with what was typed, and why", async () => {
    await make.school({ officialId: "F-2" });
    const page = await browser.open("/admin/schools/new");
    const refused = await browser.submit(page, "/new", { ...filled, officialId: "F-2" });
    expect(refused.status).toBe(409);
    expect(refused.html).toContain("gehört schon zu einer anderen Schule");
    expect(refused.html).toContain('value="Linden-Schule"');
    const mended = await browser.submit(refused, "/new", { ...filled, officialId: "F-3" });
    expect(mended.url).toContain("done=schoolCreated");
  });

  test("of another site, or without a token, do nothing", async () => {
    await browser.open("/admin/schools/new");
    const send = (headers: Record<string, string>, token: string) =>
      browser.once("/admin/schools/new", {
        method: "POST",
        headers,
        body: new URLSearchParams({ ...filled, officialId: "F-4", token }),
      });
    expect((await send({}, "")).status).toBe(403);
    expect((await send({}, "x".repeat(43))).status).toBe(403);
    const other = await send({ "sec-fetch-site": "cross-site" }, "");
    expect(other.status).toBe(403);
    expect(await other.text()).not.toContain('<form method="post"');
    expect(await countOf("F-4")).toBe(0);
  });

  test("that another site sent after the session ended are not offered to be sent again", async () => {
    const sent = await fetch(`${service.url}/admin/schools/new`, {
      method: "POST",
      redirect: "manual",
      headers: { "sec-fetch-site": "cross-site" },
      body: new URLSearchParams({ ...filled, officialId: "F-7" }),
    });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, "/sign-in?return=%2Fadmin%2Fschools%2Fnew"]);
    expect(await sent.text()).not.toContain("Linden-Schule");
  });

  test("of somebody else's browser do nothing", async () => {
    const theirs = await makePortalUser(service, "OPERATOR");
    const page = await browser.open("/admin/schools/new");
    await theirs.browser.open("/admin/schools/new");
    const sent = await theirs.browser.submit(page, "/new", { ...filled, officialId: "F-5" });
    expect(sent.status).toBe(403);
    expect(await countOf("F-5")).toBe(0);
  });

  test("of a session that has ended are kept, and sent again after signing in", async () => {
    const { browser: own, personId, ...login } = await makePortalUser(service, "OPERATOR");
    const page = await own.open("/admin/schools/new");
    await signOutPerson(service.db, personId, { at: service.clock() });
    const ended = await own.submit(page, "/new", { ...filled, officialId: "F-6" });
    expect(ended.status).toBe(401);
    expect(ended.html).toContain("Linden-Schule");
    expect(await countOf("F-6")).toBe(0);
    await signIn(own, login);
    const sent = await own.submit(ended, "/new");
    const done = sent.status === 403 ? await own.submit(sent, "/new") : sent;
    expect(done.url).toContain("done=schoolCreated");
    expect(await countOf("F-6")).toBe(1);
  });
});

describe("forms with a file", () => {
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const partOf = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`;
  const fileOf = (content: string) => partOf('file; filename="a.csv"', content);

  async function makeForms() {
    const school = await make.school({});
    const { clientId } = await make.app({});
    const { html } = await browser.open(`/admin/schools/${school}/imports`);
    const token = partOf("token", /name="token" value="([^"]*)"/.exec(html)![1]!);
    return { token, imports: `/admin/schools/${school}/imports`, logo: `/partner/apps/${clientId}/logo` };
  }

  // The service would end with the exception that nobody caught, and so does this run.
  test("that end in the middle of the file are refused, also to a stranger, and the service goes on", async () => {
    const { token, ...forms } = await makeForms();
    for (const form of [forms.imports, forms.logo]) {
      const sent = { method: "POST", headers, body: token + fileOf("id;role") };
      expect((await fetch(service.url + form, sent)).status).toBe(401);
      expect((await browser.once(form, sent)).status).toBe(400);
      expect((await browser.open(forms.imports)).status).toBe(200);
    }
  });

  test.each(["__proto__", "constructor", "toString"])("take a field called %s for what it is", async (name) => {
    const { token, imports } = await makeForms();
    const sent = { method: "POST", headers, body: `${token + partOf(name, "1") + fileOf("id;role")}--b--\r\n` };
    expect((await fetch(service.url + imports, sent)).status).toBe(401);
    expect((await browser.open((await browser.once(imports, sent)).headers.get("location")!)).html).toContain("a.csv");
  });

  test("that are refused before the file was read leave the connection to the next request", async () => {
    const { token, logo, imports } = await makeForms();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const cookie = browser.cookies().map(({ name, value }) => `${name}=${value}`);
    const ask = (path: string, given: RequestOptions, body?: string) =>
      new Promise<number>((resolve, reject) => {
        const asked = request(service.url + path, { ...given, agent }, (answer) => {
          answer.resume().once("end", () => resolve(answer.statusCode!));
        });
        asked.once("error", reject).end(body);
      });
    const large = `${token + fileOf("id;role".repeat(300_000))}--b--\r\n`;
    expect(await ask(logo, { method: "POST", headers: { ...headers, cookie: cookie.join("; ") } }, large)).toBe(400);
    expect(await ask(imports, { headers: { cookie: cookie.join("; ") } })).toBe(200);
    agent.destroy();
  });
});

test("the states of a school are listed by their name", async () => {
  const { html } = await browser.open("/admin/schools/new");
  const select = /<select id="state"[\s\S]*?<\/select>/.exec(html)![0];
  const names = [...select.matchAll(/value="[A-Z]{2}"[^>]*>([^<]+)</g)].map(([, name]) => name!);
  expect(names).toHaveLength(16);
  expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, "de")));
});
