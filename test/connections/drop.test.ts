import { expect, test } from "vitest";
import { makeHostKey } from "../../src/connections/drop/server.ts";
import { readPublicKeys } from "../../src/connections/sources/sftp.ts";
import { ask, connect, makeClientKey, openDrop, openSftp, put } from "./sftp-client.ts";

const key = makeClientKey();
const roster = "id;role;first_name;last_name\n1;student;Mia;Albrecht\n";

const open = async (door?: Parameters<typeof openDrop>[1]) => {
  const drop = await openDrop({ goethe: key.publicKey }, door);
  const client = await connect({ port: drop.port, username: "goethe", privateKey: key.privateKey });
  return { drop, client, sftp: await openSftp(client) };
};

test("a file that is sent and closed arrives once, whole", async () => {
  const { drop, sftp } = await open();
  expect(await put(sftp, "/Schüler 2026.CSV", roster)).toBeUndefined();
  expect(drop.files).toEqual([{ userName: "goethe", text: roster, extension: "csv", size: roster.length }]);
  expect([...drop.tries.values()]).toEqual([0]);
});

test("a file that is renamed when it is whole arrives with its last name", async () => {
  const { drop, sftp } = await open();
  expect(await put(sftp, "export.csv.part", roster)).toBeUndefined();
  expect(drop.files).toEqual([]);
  expect(await ask(sftp, "rename", "/export.csv.part", "/export.csv")).toBeUndefined();
  expect(drop.files.map(({ extension }) => extension)).toEqual(["csv"]);
  // One that has arrived does not arrive again.
  expect(await ask(sftp, "rename", "/export.csv", "/other.zip")).toBeUndefined();
  expect(drop.files).toHaveLength(1);
});

test("pieces may be written in any order, and a file with holes is refused", async () => {
  const { drop, sftp } = await open();
  const write = async (pieces: [number, string][]) => {
    const handle = await ask(sftp, "open", "/a.csv", "w");
    for (const [offset, text] of pieces) await ask(sftp, "write", handle, Buffer.from(text), 0, text.length, offset);
    return ask(sftp, "close", handle);
  };
  expect(
    await write([
      [4, "5678"],
      [0, "1234"],
    ]),
  ).toBeUndefined();
  expect(
    await write([
      [4, "5678"],
      [9, "x"],
    ]),
  ).toBe(4);
  expect(drop.files.map(({ text }) => text)).toEqual(["12345678"]);
});

test("a client sees an empty folder, and what it sent in this session", async () => {
  const { sftp } = await open();
  expect(await ask(sftp, "readdir", "/")).toEqual([]);
  expect(await ask(sftp, "realpath", ".")).toBe("/");
  expect(await ask<{ mode: number }>(sftp, "stat", "/")).toMatchObject({ mode: 0o040300 });
  expect(await ask(sftp, "stat", "/a.csv")).toBe(2);
  await put(sftp, "/a.csv", roster);
  expect(await ask(sftp, "stat", "/a.csv")).toMatchObject({ size: roster.length });
  expect(await ask(sftp, "utimes", "/a.csv", 1, 1)).toBeUndefined();
  expect(await ask(sftp, "readdir", "/")).toEqual([]);
});

test("an RSA key signs with SHA-2", async () => {
  const rsa = makeClientKey("rsa");
  const drop = await openDrop({ goethe: `${key.publicKey}, ${rsa.publicKey}` });
  const client = await connect({ port: drop.port, username: "goethe", privateKey: rsa.privateKey });
  expect(await put(await openSftp(client), "/a.csv", roster)).toBeUndefined();
});

test("public keys are those of OpenSSH, long enough, and at most ten", () => {
  const count = (text: string) => readPublicKeys(text)?.length ?? null;
  const [type, base64] = key.publicKey.split(" ") as [string, string];
  expect(count(`${key.publicKey} export@verwaltung , ${makeClientKey("rsa", 2048).publicKey}`)).toBe(2);
  expect(
    ["", "ssh-ed25519", `ssh-dss ${base64}`, `ssh-rsa ${base64}`, `${type} ${base64.slice(0, 20)}`, key.privateKey].map(
      count,
    ),
  ).toEqual(Array(6).fill(null));
  expect(count(makeClientKey("rsa", 1024).publicKey)).toBeNull();
  expect(count(Array(10).fill(key.publicKey).join(","))).toBe(10);
  expect(count(Array(11).fill(key.publicKey).join(","))).toBeNull();
});

test("a program sees the fingerprint that the service names", async () => {
  const drop = await openDrop({ "conn-1": key.publicKey });
  let seen = "";
  const hostVerifier = (hex: string) => (seen = Buffer.from(hex, "hex").toString("base64").replace(/=+$/, "")) !== "";
  const signIn = { username: "conn-1", privateKey: key.privateKey };
  await connect({ port: drop.port, ...signIn, hostHash: "sha256", hostVerifier });
  expect(`SHA256:${seen}`).toBe(drop.fingerprint);
});

test("the same secret makes the same host key in every process", async () => {
  const [one, other] = [await openDrop({}), await openDrop({})];
  expect(one.fingerprint).toBe(other.fingerprint);
  expect(one.fingerprint).toMatch(/^SHA256:[\w+/]{43}$/);
  expect(makeHostKey(Buffer.alloc(32, 255))).not.toBe(makeHostKey(Buffer.alloc(32, 8)));
});
