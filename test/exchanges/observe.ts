import type { IncomingHttpHeaders, OutgoingHttpHeaders, RequestListener } from "node:http";
import type { Exchange } from "./check.ts";

const keptBytes = 1 << 21;

/** The same listener, which tells of each exchange that came to its end. */
export function observe(listener: RequestListener, tell: (exchange: Exchange) => void): RequestListener {
  return (req, res) => {
    const { method = "", url = "" } = req;
    // Before the service changes them.
    const requestHeaders = oneEach(req.headers);
    const [sent, answered] = [makeKeep(), makeKeep()];
    const { push } = req;
    req.push = (chunk: Buffer | null, encoding) => {
      if (chunk !== null) sent.add(chunk);
      return push.call(req, chunk, encoding);
    };
    const write = res.write.bind(res) as (...given: unknown[]) => boolean;
    res.write = (chunk: unknown, ...rest: unknown[]) => {
      answered.add(chunk);
      return write(chunk, ...rest);
    };
    const end = res.end.bind(res) as (...given: unknown[]) => typeof res;
    res.end = (...given: unknown[]) => {
      answered.add(given[0]);
      // Node may write what is ended through `write`.
      res.write = write as typeof res.write;
      return end(...given);
    };
    res.on("finish", () =>
      tell({
        method,
        target: url,
        requestHeaders,
        requestBody: req.complete ? sent.whole() : null,
        status: res.statusCode,
        headers: oneEach(res.getHeaders()),
        body: answered.whole(),
      }),
    );
    listener(req, res);
  };
}

/** Keeps a body that passes by; null where it is too long. */
function makeKeep(): { add(chunk: unknown): void; whole(): Buffer | null } {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    add(chunk) {
      if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
      const bytes = Buffer.from(chunk as string);
      length += bytes.length;
      if (length <= keptBytes) chunks.push(bytes);
    },
    whole: () => (length <= keptBytes ? Buffer.concat(chunks) : null),
  };
}

const oneEach = (headers: IncomingHttpHeaders | OutgoingHttpHeaders): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : value === undefined ? undefined : String(value),
    ]),
  );
