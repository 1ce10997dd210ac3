import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../telemetry/log.ts";
import { listOperations, resolve, type Answer, type OpenApiDocument, type Operation } from "./document.ts";
import { makeSchemaChecks, type Check } from "./schema-checks.ts";

export type AnswerCheck = (req: IncomingMessage, res: ServerResponse) => void;

type Described = { headers: [name: string, required: boolean, check: Check][]; bodies: Map<string, Check> | null };

/** For development and tests: replaces a response against the contract by a 500. Paths have no parameters. */
export function makeAnswerCheck(document: OpenApiDocument, log: Log): AnswerCheck {
  const schemas = makeSchemaChecks(document);
  const describe = (response: Operation["responses"][string]): Described => {
    const { headers = {}, content }: Answer = resolve(document, response);
    return {
      headers: Object.entries(headers).map(([name, header]) => {
        const { required = false, schema = {} } = resolve(document, header);
        return [name, required, schemas.text(schema)];
      }),
      bodies: content
        ? new Map(Object.entries(content).map(([type, { schema = {} }]) => [type, schemas.json(schema)]))
        : null,
    };
  };
  const places = new Map(
    listOperations(document).map(({ path, method, operation }) => [
      `${method.toUpperCase()} ${path}`,
      {
        id: operation.operationId,
        answers: new Map(Object.entries(operation.responses).map(([status, answer]) => [status, describe(answer)])),
      },
    ]),
  );
  return (req, res) => {
    const isHead = req.method === "HEAD";
    // express shortens `url` below a mount point.
    const { originalUrl = req.url ?? "" } = req as { originalUrl?: string };
    const place = places.get(`${isHead ? "GET" : (req.method ?? "")} ${originalUrl.split("?", 1)[0] ?? ""}`);
    if (place === undefined) return;
    const end = res.end.bind(res) as (...args: unknown[]) => ServerResponse;
    res.end = ((...args: unknown[]) => {
      res.end = end as typeof res.end;
      const [chunk] = args;
      const body = typeof chunk === "string" || Buffer.isBuffer(chunk) ? String(chunk) : "";
      const fault = res.headersSent || hasLeft(res) ? null : findFault(place.answers, res, isHead ? null : body);
      if (fault === null) return end(...args);
      log.error({ operation: place.id, status: res.statusCode, fault }, "an answer is against the contract");
      for (const name of res.getHeaderNames()) if (name !== "x-request-id") res.removeHeader(name);
      res.statusCode = 500;
      res.setHeader("Content-Type", "application/json; charset=utf-8");
      return end(
        JSON.stringify({
          error: "server_error",
          error_description: `${place.id} answers against its contract: ${fault}`,
        }),
      );
    }) as typeof res.end;
  };
}

/** On a closed connection the library ends the response without its body. */
const hasLeft = ({ destroyed, socket }: ServerResponse): boolean => destroyed || socket?.writable === false;

function findFault(answers: Map<string, Described>, res: ServerResponse, body: string | null): string | null {
  const status = String(res.statusCode);
  const described = answers.get(status) ?? answers.get(`${status[0] ?? ""}XX`) ?? answers.get("default");
  if (described === undefined) return `status ${status} is not described`;
  for (const [name, required, check] of described.headers) {
    const value = res.getHeader(name);
    if (value === undefined && !required) continue;
    if (value === undefined) return `status ${status} lacks the header ${name}`;
    const faults = check(String(value));
    if (faults) return `the header ${name} of status ${status}: ${JSON.stringify(faults)}`;
  }
  if (body === null || (body === "" && status.startsWith("3"))) return null;
  if (described.bodies === null) return body === "" ? null : `status ${status} has a body`;
  const type = String(res.getHeader("Content-Type") ?? "").split(";", 1)[0] ?? "";
  const check = described.bodies.get(type);
  if (check === undefined) return `status ${status} has a body of the type ${type || "nothing"}`;
  const faults = check(/\bjson\b/.test(type) ? parse(body) : body);
  return faults === null ? null : `the body of status ${status}: ${JSON.stringify(faults)}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
