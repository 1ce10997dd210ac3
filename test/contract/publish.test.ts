import { createHash } from "node:crypto";
import { join } from "node:path";
import express from "express";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { documentNames, listVersions, releasesFolder } from "../../openapi/tools/document.ts";
import { makePageAssets } from "../../src/platform/pages/index.ts";
import { fillPlatform, makePublishRouter, readRuleSets } from "../../src/publish/index.ts";
import { partnerBundles } from "./bundles.ts";
import { serve } from "../support/serve.ts";

const place = {
  platform: "nordlicht",
  baseUrl: "https://api.example.org/schools",
  issuerUrl: "https://login.example.org",
};
const packages = { repository: "https://git.example.org/nordlicht", licence: "EUPL-1.2" };
const withoutPkce = {
  deprecatedAt: new Date("2027-02-01T00:00:00Z"),
  sunsetAt: new Date("2029-07-31T22:00:00Z"),
};
let url: string;
let isReady = true;

beforeAll(async () => {
  const app = express()
    .disable("etag")
    .use(makePageAssets(), makePublishRouter({ ...place, withoutPkce, packages, isReady: async () => isReady }));
  app.use((_req, res) => void res.status(404).json({ code: "not_found" }));
  url = await serve(app);
});

async function read(path: string) {
  const response = await fetch(url + path);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe.each(partnerBundles)("$name as it is served", ({ name, text, document }) => {
  test("carries the operator's name and addresses, the same in YAML and JSON, with every path of the contract", async () => {
    const yaml = await fetch(`${url}/openapi/${name}.yaml`);
    const json = await fetch(`${url}/openapi/${name}.json`);
    expect(yaml.headers.get("content-type")).toMatch(/^application\/yaml/);
    expect(json.headers.get("content-type")).toMatch(/^application\/json/);
    const served = await yaml.text();
    expect(text).toContain("<platform>");
    expect(served).not.toMatch(/<platform>|localhost/);
    const { servers, paths } = parse(served) as { servers: { url: string }[]; paths: object };
    const urls: Record<string, string> = { "sign-on": place.issuerUrl, webhooks: "https://app.example.org" };
    expect(servers[0]!.url).toBe(urls[name] ?? place.baseUrl);
    expect(served).toContain("https://login.example.org/oauth2/token");
    expect(served).toContain("urn:nordlicht:idm:v1:people:read");
    expect(await json.json()).toEqual(parse(served));
    expect(Object.keys(paths)).toEqual(Object.keys(document.paths));
    const etag = yaml.headers.get("etag")!;
    expect(yaml.headers.get("access-control-allow-origin")).toBe("*");
    expect(etag).toMatch(/^"[^"]+"$/);
    const again = await fetch(`${url}/openapi/${name}.yaml`, { headers: { "If-None-Match": `"other", ${etag}` } });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
  });

  test("has a reference page that loads nothing from elsewhere", async () => {
    const page = await fetch(`${url}/docs/${name}`);
    const policy = page.headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const html = await page.text();
    expect(html).toContain(`data-document="/openapi/${name}.json"`);
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(loaded.filter((address) => !/^(\/|data:)/.test(address))).toEqual([]);
    for (const asset of loaded.filter((address) => address.startsWith("/assets/"))) {
      const { status, headers, text } = await read(asset);
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
      expect(text).not.toContain("cdn.redoc.ly");
    }
  });
});

test("the contract of staff is served where the guide of sandboxes and the command line send their readers", async () => {
  expect((await read("/docs/sandbox")).text).toContain('<a href="/docs/admin">');
  const page = await read("/docs/admin");
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('data-document="/openapi/admin.json"')]);
  const served = await read("/openapi/admin.yaml");
  expect(served.text).toContain("urn:nordlicht:admin:v1:read");
  expect(served.text).not.toMatch(/<platform>|localhost/);
  for (const name of ["createSandbox", "applySandboxSteps", "putAgreementDraft", "AgreementInput"])
    expect(served.text).toContain(name);
});

test("the list of documents names them all", async () => {
  const { documents } = (await (await fetch(`${url}/openapi`)).json()) as {
    documents: { name: string; yaml: string }[];
  };
  expect(documents.map(({ name }) => name)).toEqual([...partnerBundles.map(({ name }) => name).sort(), "admin"]);
  expect(documents[0]!.yaml).toBe("https://login.example.org/openapi/idm.yaml");
  expect((await fetch(`${url}/openapi/`)).status).toBe(200);
});

describe("the released versions", () => {
  type Listed = { version: string; date: string; documents: { name: string; yaml: string; sha256: string }[] };
  const readVersions = async () => ((await (await fetch(`${url}/openapi`)).json()) as { versions: Listed[] }).versions;

  test("are listed with dates, addresses and the checksum of what is served", async () => {
    const versions = await readVersions();
    expect(versions.map(({ version }) => version)).toEqual(listVersions());
    for (const { version, date, documents } of versions) {
      expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      expect(documents.map(({ name }) => name)).toEqual(documentNames(join(releasesFolder, version)));
      for (const { name, yaml, sha256 } of documents) {
        expect(yaml).toBe(`https://login.example.org/openapi/${version}/${name}.yaml`);
        const served = await (await fetch(`${url}/openapi/${version}/${name}.yaml`)).text();
        expect(createHash("sha256").update(served).digest("hex")).toBe(sha256);
        expect(served).not.toMatch(/<platform>|localhost/);
        expect((parse(served) as { info: object }).info).toMatchObject({ version });
      }
    }
  });

  test("are served as JSON too, to every origin", async () => {
    const yaml = await (await fetch(`${url}/openapi/1.0.0/idm.yaml`)).text();
    const json = await fetch(`${url}/openapi/1.0.0/idm.json`);
    expect(json.headers.get("access-control-allow-origin")).toBe("*");
    expect(await json.json()).toEqual(parse(yaml));
    expect((await fetch(`${url}/openapi/0.9.0/idm.yaml`)).status).toBe(404);
  });

  test("are a page for a browser, and JSON for whatever does not ask for one", async () => {
    const page = await fetch(`${url}/openapi`, {
      headers: { Accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" },
    });
    expect([page.headers.get("content-type"), page.headers.get("vary")]).toEqual([
      "text/html; charset=utf-8",
      expect.stringContaining("Accept"),
    ]);
    const html = await page.text();
    for (const { version, documents } of await readVersions())
      for (const { name, sha256 } of documents) {
        expect(html).toContain(`/openapi/${version}/${name}.yaml`);
        expect(html).toContain(sha256);
      }
    const plain = await fetch(`${url}/openapi`, { headers: { Accept: "*/*" } });
    expect(plain.headers.get("content-type")).toMatch(/^application\/json/);
  });
});

test("the changelog is a page and a feed, with every release", async () => {
  const { text: page } = await read("/docs/changelog");
  const feed = await fetch(`${url}/docs/changelog.atom`);
  expect(feed.headers.get("content-type")).toMatch(/^application\/atom\+xml/);
  const text = await feed.text();
  expect([...text.matchAll(/<title>Contract ([\d.]+)<\/title>/g)].map(([, version]) => version)).toEqual(
    listVersions(),
  );
  for (const version of listVersions()) expect(page).toContain(`id="v${version}"`);
  expect(text).toContain("<id>https://login.example.org/docs/changelog</id>");
  for (const address of [...page.matchAll(/href="(\/(?:docs|openapi)[^"]*)"/g)].map(([, path]) => path!))
    expect([address, (await fetch(url + address)).status]).toEqual([address, 200]);
});

test("every rule of the contract is listed and has a page with both examples", async () => {
  const list = await (await fetch(`${url}/docs/rules`)).text();
  for (const { name } of (await readRuleSets()).flatMap(({ rules }) => rules)) {
    expect(list).toContain(`<a href="/docs/rules/${name}">`);
    const page = await (await fetch(`${url}/docs/rules/${name}`)).text();
    expect(page, name).toMatch(/Follows the rule:[^]*class="language-yaml"[^]*Breaks it:[^]*class="language-yaml"/);
  }
});

test("the guides show this operator's addresses and scopes", async () => {
  const guide = await fetch(`${url}/docs/client-credentials`);
  const html = await guide.text();
  expect(guide.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).toContain("https://login.example.org/oauth2/token");
  expect(html).toContain("https://api.example.org/schools/idm/ep/v1/schools");
  expect(html).toContain("urn:nordlicht:idm:v1:schools:read");
});

test("a document is the release of its version, or says that it belongs to the next one", async () => {
  const read = async (path: string) => (await fetch(`${url}/openapi/${path}`)).text();
  for (const { name } of partnerBundles) {
    const today = await read(`${name}.yaml`);
    const { version } = (parse(today) as { info: { version: string } }).info;
    const [, number, next] = /^(\d+\.\d+\.\d+)(\+next)?$/.exec(version)!;
    const released = await read(`${number}/${name}.yaml`);
    if (next === undefined) expect(today, name).toBe(released);
    else expect(today.replace(version, number!), name).not.toBe(released);
    expect(JSON.parse(await read(`${name}.json`)), name).toMatchObject({ info: { version } });
  }
});

describe("the search", () => {
  const search = async (query: string) => {
    const response = await fetch(`${url}/docs/search?q=${encodeURIComponent(query)}`);
    const html = await response.text();
    return { html, paths: [...html.matchAll(/<li><a href="([^"]+)">[^<]*<\/a> <span/g)].map((match) => match[1]!) };
  };

  test("finds pages, errors and operations, and shows the nearest pages if there are none", async () => {
    expect((await search("invalid_token")).paths[0]).toBe("/docs/errors/invalid_token");
    expect((await search("List the people of a school")).paths).toContain(
      "/docs/idm#tag/People/operation/listSchoolPeople",
    );
    expect((await search("change FEED position")).paths).toContain("/docs/first-load#take-a-position");
    const nothing = await search("zeppelin");
    expect(nothing.html).toContain("No page has the words <strong>zeppelin</strong>.");
    expect(nothing.paths).toContain("/docs/first-steps");
    expect((await search("  ")).paths).toEqual([]);
  });

  test("writes what was searched for as text", async () => {
    const { html } = await search('"><script>alert(1)</script>');
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toContain("<script>alert");
    expect((await fetch(`${url}/docs/search?q=a&q=b`)).status).toBe(200);
    expect((await search("a".repeat(5000))).html.length).toBeLessThan(20_000);
  });
});

test("the status says whether the service works, and nothing of its parts", async () => {
  const read = async () => {
    const response = await fetch(`${url}/docs/status`);
    return { status: response.status, html: await response.text(), stored: response.headers.get("cache-control") };
  };
  expect(await read()).toMatchObject({
    status: 200,
    html: expect.stringContaining("The service works.") as string,
    stored: "no-store",
  });
  isReady = false;
  const { status, html } = await read();
  isReady = true;
  expect([status, html.includes("cannot answer requests just now")]).toEqual([503, true]);
  expect(html).not.toMatch(/database|migration|signing/i);
});

test("only reading is answered, and what does not exist is left to others", async () => {
  const posted = await fetch(`${url}/openapi/idm.yaml`, { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect((await fetch(`${url}/openapi/idm.yaml`, { method: "OPTIONS" })).status).toBe(204);
  expect((await fetch(`${url}/docs`, { method: "DELETE" })).status).toBe(405);
  expect((await fetch(`${url}/openapi/other.yaml`)).status).toBe(404);
  expect((await fetch(`${url}/openapi/..%2fidm.yaml`)).status).toBe(404);
});

test("the guide on leaving the flow without PKCE has the dates of this operator", async () => {
  const text = await (await fetch(`${url}/docs/sign-on-without-pkce`)).text();
  expect(text).toContain("is deprecated from 1 February 2027 and may be refused after 31 July 2029.");
  expect(text).toContain("Deprecation: @1801440000\nSunset: Tue, 31 Jul 2029 22:00:00 GMT");
  expect(text).not.toMatch(/2026|2028/);
});

test("a platform name with dollar signs is taken as it is", () => {
  expect(fillPlatform("urn:<platform>:idm <platform>", "$&")).toBe("urn:$&:idm $&");
});
