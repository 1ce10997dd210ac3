import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  fillPlatform,
  makeIdmClient,
  makePublishRouter,
  makeSchulconnexClient,
  makeSignOnClient,
} from "../../src/publish/index.ts";
import { partnerBundles } from "./bundles.ts";

const place = {
  platform: "nordlicht",
  baseUrl: "https://api.example.org/schools",
  issuerUrl: "https://login.example.org",
};
let server: Server;
let url: string;

beforeAll(async () => {
  const app = express().disable("etag").use(makePublishRouter(place));
  app.use((_req, res) => void res.status(404).json({ code: "not_found" }));
  server = createServer(app).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

describe.each(partnerBundles)("$name as it is served", ({ name, text, document }) => {
  test("carries the operator's name and addresses, and no placeholder", async () => {
    const served = await (await fetch(`${url}/openapi/${name}.yaml`)).text();
    expect(text).toContain("<platform>");
    expect(served).not.toMatch(/<platform>|localhost/);
    const { servers } = parse(served) as { servers: { url: string }[] };
    const urls: Record<string, string> = { "sign-on": place.issuerUrl, webhooks: "https://app.example.org" };
    expect(servers[0]!.url).toBe(urls[name] ?? place.baseUrl);
    expect(served).toContain("https://login.example.org/oauth2/token");
    expect(served).toContain("urn:nordlicht:idm:v1:people:read");
  });

  test("says the same in YAML and JSON, with every path of the contract", async () => {
    const [yaml, json] = await Promise.all([
      fetch(`${url}/openapi/${name}.yaml`),
      fetch(`${url}/openapi/${name}.json`),
    ]);
    expect([yaml.headers.get("content-type"), json.headers.get("content-type")]).toEqual([
      expect.stringMatching(/^application\/yaml/),
      expect.stringMatching(/^application\/json/),
    ]);
    const served = (await json.json()) as { paths: object };
    expect(served).toEqual(parse(await yaml.text()));
    expect(Object.keys(served.paths)).toEqual(Object.keys(document.paths));
  });

  test("is readable from every origin and answers 304 while unchanged", async () => {
    const first = await fetch(`${url}/openapi/${name}.yaml`);
    const etag = first.headers.get("etag")!;
    expect(first.headers.get("access-control-allow-origin")).toBe("*");
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
    for (const asset of loaded.filter((address) => address.startsWith("/docs/assets/"))) {
      const answer = await fetch(url + asset);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
      expect(await answer.text()).not.toContain("cdn.redoc.ly");
    }
  });
});

test("the list of documents names them all", async () => {
  const { documents } = (await (await fetch(`${url}/openapi`)).json()) as {
    documents: { name: string; yaml: string }[];
  };
  expect(documents.map(({ name }) => name)).toEqual(partnerBundles.map(({ name }) => name).sort());
  expect(documents[0]!.yaml).toBe("https://login.example.org/openapi/idm.yaml");
  expect((await fetch(`${url}/openapi/`)).status).toBe(200);
});

test("the guide shows this operator's addresses and scopes", async () => {
  const guide = await fetch(`${url}/docs`);
  const html = await guide.text();
  expect(guide.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).toContain("https://login.example.org/oauth2/token");
  expect(html).toContain("https://api.example.org/schools/idm/ep/v1/schools");
  expect(html).toContain("urn:nordlicht:idm:v1:schools:read");
});

test("only reading is answered, and what does not exist is left to others", async () => {
  const posted = await fetch(`${url}/openapi/idm.yaml`, { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect((await fetch(`${url}/openapi/idm.yaml`, { method: "OPTIONS" })).status).toBe(204);
  expect((await fetch(`${url}/docs`, { method: "DELETE" })).status).toBe(405);
  expect((await fetch(`${url}/openapi/other.yaml`)).status).toBe(404);
  expect((await fetch(`${url}/openapi/..%2fidm.yaml`)).status).toBe(404);
});

test("a platform name with dollar signs is taken as it is", () => {
  expect(fillPlatform("urn:<platform>:idm <platform>", "$&")).toBe("urn:$&:idm $&");
});

describe("the typed clients", () => {
  const asked: Request[] = [];
  const fetch = (request: Request) => {
    asked.push(request);
    return Promise.resolve(Response.json([]));
  };
  const sent = () => asked.at(-1)!;

  test("send the token and fill in the path", async () => {
    const idm = makeIdmClient({ baseUrl: place.baseUrl, accessToken: "t0", fetch });
    const { data } = await idm.GET("/idm/ep/v1/schools/{id}/people", {
      params: { path: { id: "a0000000-0000-4000-8000-000000000001" }, query: { "show-deleted": true } },
    });
    expect(data).toEqual([]);
    expect(sent().url).toBe(
      "https://api.example.org/schools/idm/ep/v1/schools/a0000000-0000-4000-8000-000000000001/people?show-deleted=true",
    );
    expect(sent().headers.get("authorization")).toBe("Bearer t0");
  });

  test("join a list in a filter with commas", async () => {
    const schulconnex = makeSchulconnexClient({ baseUrl: place.baseUrl, fetch });
    await schulconnex.GET("/idm/schulconnex/v1/personen-info", {
      params: { query: { vollstaendig: ["personen", "gruppen"] } },
    });
    expect(new URL(sent().url).searchParams.getAll("vollstaendig")).toEqual(["personen,gruppen"]);
  });

  test("send requests for tokens as forms", async () => {
    const signOn = makeSignOnClient({ issuerUrl: place.issuerUrl, fetch });
    await signOn.POST("/oauth2/token", {
      body: { grant_type: "client_credentials", scope: "a b" },
      headers: { Authorization: "Basic eDp5" },
    });
    expect(sent().headers.get("content-type")).toBe("application/x-www-form-urlencoded");
    expect(await sent().text()).toBe("grant_type=client_credentials&scope=a+b");
  });
});
