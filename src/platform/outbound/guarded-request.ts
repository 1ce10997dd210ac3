import { lookup as lookupByName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import type { Agent, Dispatcher } from "undici";
import ipaddr from "ipaddr.js";
import type { AppError } from "../errors.ts";

export type OutboundPolicy = {
  allowPrivateAddresses: boolean;
  allowHttp?: boolean;
  lookup?: Lookup;
  isAllowed?: (address: string) => boolean;
};

export type Lookup = (
  hostname: string,
  options: { all: true; family?: number | "IPv4" | "IPv6" | undefined },
  callback: (error: Error | null, addresses: { address: string; family: number }[]) => void,
) => void;

type Message = { headers: Record<string, string>; body: string };

export type Answer = {
  status: number;
  retryAfter: string | null;
  contentType: string | null;
  /** The first bytes of the body. */
  start: Buffer;
};

export type GuardedSender = {
  /** Without `mostBytes`, 4 KiB of the answer are kept. */
  post(url: URL, message: Message & { mostBytes?: number }): Promise<Answer>;
  get(url: URL, message: Omit<Message, "body"> & { mostBytes: number }): Promise<Answer>;
  /** Returns the whole answer as a stream, whose reader limits its size, and its time by `signal`. */
  open(url: URL, message: StreamedMessage): Promise<StreamedAnswer>;
  close(): Promise<void>;
};

type StreamedMessage = {
  method: "POST" | "GET";
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
};
export type StreamedAnswer = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
};

class RefusedTarget extends Error {
  readonly code = "EREFUSED";
}

const keptBytes = 4096;

/**
 * Sends webhooks and logout tokens, reads key sets of apps, calls the logins that schools have elsewhere, and fetches
 * rosters. A name is resolved once per connection, all its addresses are checked, and only these are connected to;
 * redirects are not followed, and a response is cut.
 *
 * Units: `timeoutMs` covers the whole exchange; of a streamed one the connection, the headers and each pause.
 * Errors: RefusedTarget, a timeout with the code ETIMEDOUT, or the connection's error.
 */
export function makeGuardedSender({ timeoutMs, ...policy }: OutboundPolicy & { timeoutMs: number }): GuardedSender {
  let agent: Promise<Agent> | undefined;
  const makeAgent = async () => {
    // Loaded for the first request: it takes longer to load than most commands of the command line need.
    const { Agent } = await import("undici");
    return new Agent({
      allowH2: false,
      pipelining: 1,
      connect: { timeout: timeoutMs, lookup: makeCheckedLookup(policy) },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  };
  const send = async (url: URL, sent: Omit<Sent, "timeoutMs">): Promise<Answer> => {
    refuseUnsafe(url, policy);
    return dispatch(await (agent ??= makeAgent()), url, { ...sent, timeoutMs });
  };
  return {
    post: (url, { headers, body, mostBytes = keptBytes }) => send(url, { method: "POST", headers, body, mostBytes }),
    get: (url, { headers, mostBytes }) => send(url, { method: "GET", headers, body: null, mostBytes }),
    async open(url, { method, headers, body = null, signal }) {
      refuseUnsafe(url, policy);
      const sent = { origin: url.origin, path: url.pathname + url.search, method, headers, body, signal };
      const answer = await (await (agent ??= makeAgent())).request(sent);
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    },
    close: async () => (await agent)?.destroy(),
  };
}

async function checkReachable(url: URL, policy: OutboundPolicy): Promise<void> {
  refuseUnsafe(url, policy);
  if (isIP(bareHost(url)) !== 0) return;
  await new Promise<void>((resolve, reject) => {
    makeCheckedLookup(policy)(url.hostname, { all: true }, (error) => {
      if (error === null) resolve();
      else reject(error instanceof RefusedTarget ? error : new RefusedTarget("its name cannot be resolved"));
    });
  });
}

// Literal addresses are not resolved, so the connection's lookup does not check them.
function refuseUnsafe(url: URL, policy: OutboundPolicy): void {
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (policy.allowHttp ?? policy.allowPrivateAddresses)))
    throw new RefusedTarget("it is called over https only");
  if (url.username !== "" || url.password !== "") throw new RefusedTarget("it holds a user name or password");
  const host = bareHost(url);
  if (isIP(host) !== 0 && !isReachable(host, policy)) throw new RefusedTarget("its address is not public");
}

const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

function isReachable(address: string, { allowPrivateAddresses, isAllowed = isPublicAddress }: OutboundPolicy): boolean {
  return allowPrivateAddresses || isAllowed(address);
}

function makeCheckedLookup(policy: OutboundPolicy): LookupFunction {
  const lookup = policy.lookup ?? lookupByName;
  return (hostname, options, callback) => {
    lookup(hostname, { family: options.family, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => isReachable(address, policy)))
        return callback(new RefusedTarget("its name leads to an address that is not public"), "");
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

type Sent = {
  method: "POST" | "GET";
  headers: Record<string, string>;
  body: string | null;
  mostBytes: number;
  timeoutMs: number;
};

function dispatch(agent: Dispatcher, url: URL, sent: Sent): Promise<Answer> {
  const { method, headers, body, mostBytes, timeoutMs } = sent;
  return new Promise((resolve, reject) => {
    let running: Dispatcher.DispatchController | null = null;
    let late: Error | null = null;
    const timer = setTimeout(() => {
      late = Object.assign(new Error(`no answer within ${timeoutMs / 1000} s`), { code: "ETIMEDOUT" });
      reject(late);
      running?.abort(late);
    }, timeoutMs);
    let answer: Answer | null = null;
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (): void => {
      clearTimeout(timer);
      if (answer)
        resolve({ ...answer, start: chunks.length === 0 ? nothing : Buffer.concat(chunks).subarray(0, mostBytes) });
    };
    agent.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers, body },
      {
        onRequestStart(controller) {
          if (late !== null) controller.abort(late);
          else running = controller;
        },
        onResponseStart(_controller, status, received) {
          const read = (name: string) => (typeof received[name] === "string" ? received[name] : null);
          const [retryAfter, contentType] = [read("retry-after"), read("content-type")];
          answer = { status, retryAfter, contentType, start: nothing };
        },
        onResponseData(controller, chunk) {
          chunks.push(chunk);
          size += chunk.length;
          if (size <= mostBytes) return;
          settle();
          controller.abort(new Error("the rest of the answer is not wanted"));
        },
        onResponseEnd: settle,
        onResponseError(_controller, error) {
          clearTimeout(timer);
          reject(error);
        },
      },
    );
  });
}

const nothing = Buffer.alloc(0);

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Azure's platform address: in a public range, but internal. */
const insideClouds = new Set(["168.63.129.16"]);

/** Source: IANA special-purpose address registries, RFC 6890, through ipaddr.js. */
export function isPublicAddress(address: string): boolean {
  // isIP first: ipaddr.js also reads old spellings such as 0x7f.1.
  if (isIP(address) === 0 || insideClouds.has(address)) return false;
  const parsed = ipaddr.parse(address);
  return (
    parsed.range() === "unicast" && (parsed instanceof ipaddr.IPv4 || (!parsed.zoneId && parsed.match(globalUnicast)))
  );
}

const mostCharacters = 2000;

export const isRefusedTarget = (error: unknown): boolean => error instanceof RefusedTarget;

export async function checkReceiver(text: string, policy: OutboundPolicy, refuse: (why: string) => AppError) {
  if (!URL.canParse(text)) throw refuse("it is not an address");
  const url = new URL(text);
  if (text.includes("#")) throw refuse("it has a fragment");
  if (url.href.length > mostCharacters) throw refuse("it is too long");
  await checkReachable(url, policy).catch((error: unknown) => {
    throw error instanceof RefusedTarget ? refuse(error.message) : error;
  });
  return url;
}
