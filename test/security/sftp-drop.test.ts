import { connect as connectSocket } from "node:net";
import type { Client } from "ssh2";
import { expect, onTestFinished, test } from "vitest";
import { ask, connect, makeClientKey, openDrop, openSftp, put } from "../connections/sftp-client.ts";
import { listUploads } from "../support/uploads.ts";

const [key, other] = [makeClientKey(), makeClientKey()];
const users = { goethe: key.publicKey, schiller: other.publicKey };
const signIn = { username: "goethe", privateKey: key.privateKey };
const denied = 3;
const missing = 2;
const failure = 4;

const open = async (door?: Parameters<typeof openDrop>[1]) => {
  const drop = await openDrop({ ...users }, door);
  const client = await connect({ port: drop.port, ...signIn });
  return { drop, client, sftp: await openSftp(client) };
};
const refusal = (connecting: Promise<unknown>) =>
  connecting.then(
    () => "signed in",
    (error: unknown) => (error as Error).message,
  );
const closing = (client: Client) => new Promise<void>((resolve) => void client.on("close", () => resolve()));

test("a path leads to no other folder, however it is written", async () => {
  const { drop, sftp } = await open();
  const paths = ["../../etc/cron.d/x", "/../etc/passwd", "a/b.csv", "/schiller/a.csv", "..", "/", "x\0.csv"];
  const codes: unknown[] = [];
  for (const path of paths) codes.push(await ask(sftp, "open", path, "w"));
  expect(codes).toEqual(paths.map(() => missing));
  expect(drop.files).toEqual([]);
});

test("nothing can be read, listed, linked, made or removed, not even what the client sent", async () => {
  const { sftp } = await open();
  await put(sftp, "/a.csv", "secret");
  expect({
    read: await ask(sftp, "open", "/a.csv", "r"),
    "read and write": await ask(sftp, "open", "/a.csv", "r+"),
    list: await ask(sftp, "readdir", "/"),
    "list elsewhere": await ask(sftp, "readdir", "/etc"),
    "another's file": await ask(sftp, "stat", "/b.csv"),
    symlink: await ask(sftp, "symlink", "/etc/passwd", "/a.csv"),
    "hard link": await ask(sftp, "ext_openssh_hardlink", "/etc/passwd", "/x").catch(() => "unsupported"),
    readlink: await ask(sftp, "readlink", "/a.csv"),
    mkdir: await ask(sftp, "mkdir", "/x"),
    rmdir: await ask(sftp, "rmdir", "/"),
    remove: await ask(sftp, "unlink", "/a.csv"),
    "rename another's": await ask(sftp, "rename", "/b.csv", "/c.csv"),
    "rename out of it": await ask(sftp, "rename", "/a.csv", "/../etc/a.csv"),
  }).toEqual({
    read: denied,
    "read and write": denied,
    list: [],
    "list elsewhere": missing,
    "another's file": missing,
    symlink: denied,
    "hard link": "unsupported",
    readlink: denied,
    mkdir: denied,
    rmdir: denied,
    remove: denied,
    "rename another's": missing,
    "rename out of it": missing,
  });
});

test("a file of one session is unknown to another, also of the same school", async () => {
  const { drop, sftp } = await open();
  await put(sftp, "/a.csv.part", "half");
  const second = await openSftp(await connect({ port: drop.port, ...signIn }));
  expect([await ask(second, "stat", "/a.csv.part"), await ask(second, "rename", "/a.csv.part", "/a.csv")]).toEqual([
    missing,
    missing,
  ]);
  expect(drop.files).toEqual([]);
});

test("nobody signs in with the key of another school, an unknown name, a password or nothing", async () => {
  const { port } = await openDrop(users);
  const rejected = "All configured authentication methods failed";
  const tries = [
    { username: "goethe", privateKey: other.privateKey },
    { username: "nobody", privateKey: key.privateKey },
    { username: "goethe", password: "goethe" },
    { username: "goethe" },
  ];
  expect(await Promise.all(tries.map((one) => refusal(connect({ port, ...one }))))).toEqual(tries.map(() => rejected));
});

test("a client with old algorithms does not get in", async () => {
  const { port } = await openDrop(users);
  const old = [
    { cipher: ["aes256-cbc"] },
    { kex: ["diffie-hellman-group14-sha1"] },
    { hmac: ["hmac-sha1"], cipher: ["aes256-ctr"] },
    { serverHostKey: ["ssh-rsa"] },
  ];
  const messages = await Promise.all(old.map((algorithms) => refusal(connect({ port, ...signIn, algorithms }))));
  expect(messages.map((message) => /no matching/.test(message))).toEqual(old.map(() => true));
});

test("there is no shell, no command, no other subsystem and no forwarding", async () => {
  const { client } = await open();
  const refused = (call: (done: (error: Error | undefined) => void) => void) =>
    new Promise<boolean>((resolve) => call((error) => resolve(error !== undefined)));
  expect({
    shell: await refused((done) => client.shell(done)),
    exec: await refused((done) => client.exec("id", done)),
    subsystem: await refused((done) => client.subsys("netconf", done)),
    "forward out": await refused((done) => client.forwardOut("127.0.0.1", 1, "127.0.0.1", 22, done)),
    "forward in": await refused((done) => client.forwardIn("127.0.0.1", 0, done)),
    "forward a socket": await refused((done) => client.openssh_forwardOutStreamLocal("/run/x", done)),
  }).toEqual({
    shell: true,
    exec: true,
    subsystem: true,
    "forward out": true,
    "forward in": true,
    "forward a socket": true,
  });
});

test("a file that is too large is refused while it comes, and a write far behind its end too", async () => {
  const before = await listUploads();
  const { drop, sftp } = await open({ mostBytes: 100_000 });
  expect(await put(sftp, "/giant.csv", Buffer.alloc(300_000, "x"))).toBe(failure);
  const handle = await ask(sftp, "open", "/sparse.csv", "w");
  expect(await ask(sftp, "write", handle, Buffer.from("x"), 0, 1, 2 ** 40)).toBe(failure);
  expect(await ask(sftp, "close", handle)).toBe(failure);
  expect(drop.files).toEqual([]);
  expect(await listUploads()).toEqual(before);
});

test("a session takes a limited number of files, and of open ones", async () => {
  const { sftp } = await open();
  const opened: unknown[] = [];
  for (let at = 0; at < 5; at++) opened.push(await ask(sftp, "open", `/${at}.csv`, "w"));
  expect(opened.at(-1)).toBe(failure);
  for (const handle of opened.slice(0, 4)) await ask(sftp, "close", handle);
  const codes: unknown[] = [];
  for (let at = 0; at < 17; at++) codes.push(await put(sftp, "/a.csv", "x"));
  expect(codes.at(-1)).toBe(failure);
});

test("of a connection that breaks, neither open nor waiting files are kept", async () => {
  const before = await listUploads();
  const { drop, client, sftp } = await open();
  await put(sftp, "/whole.csv.part", "waits for its name");
  const handle = await ask(sftp, "open", "/half.csv", "w");
  await ask(sftp, "write", handle, Buffer.from("half"), 0, 4, 0);
  const closed = closing(client);
  (client as unknown as { _sock: { destroy(): void } })._sock.destroy();
  await closed;
  await drop.stop();
  expect(drop.files).toEqual([]);
  expect(await listUploads()).toEqual(before);
});

test("a key that is removed sends nothing more, also in a session that it opened", async () => {
  const { drop, client, sftp } = await open();
  expect(await put(sftp, "/a.csv", "x")).toBeUndefined();
  drop.users["goethe"] = other.publicKey;
  const ended = closing(client);
  expect(await ask(sftp, "open", "/b.csv", "w")).toBe(denied);
  await ended;
  expect(drop.files).toHaveLength(1);
});

test("an address has ten connections at most, and none while it fails too often", async () => {
  let allowed = true;
  const { port } = await openDrop(users, { beginTry: async () => allowed });
  const clients: Client[] = [];
  for (let at = 0; at < 10; at++) clients.push(await connect({ port, ...signIn }));
  expect(await refusal(connect({ port, ...signIn }))).not.toBe("signed in");
  clients.forEach((client) => client.end());
  await Promise.all(clients.map((client) => closing(client)));
  expect(await refusal(connect({ port, ...signIn }))).toBe("signed in");
  allowed = false;
  expect(await refusal(connect({ port, ...signIn }))).not.toBe("signed in");
});

test("bytes that are no SSH end the connection, and nothing else", async () => {
  const { port } = await openDrop(users);
  const end = (bytes: Buffer | string) =>
    new Promise<void>((resolve) => {
      const socket = connectSocket(port, "127.0.0.1", () => socket.write(bytes));
      onTestFinished(() => void socket.destroy());
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
      socket.resume();
    });
  await Promise.all([
    end("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    end(Buffer.alloc(100_000, 0xff)),
    end("SSH-1.5-old\r\n"),
  ]);
  expect(await refusal(connect({ port, ...signIn }))).toBe("signed in");
});
