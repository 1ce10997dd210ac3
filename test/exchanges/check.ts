import {
  listOperations,
  loadDocument,
  resolve,
  type Answer,
  type OpenApiDocument,
  type Operation,
} from "../../src/platform/http/index.ts";
import { makeCheck } from "../support/schema-check.ts";

/** One request and its answer as they went over the wire. Shape: header names are in lower case. */
export type Exchange = {
  method: string;
  /** Path and query. */
  target: string;
  requestHeaders: Record<string, string | undefined>;
  /** Null where the body was too long to keep. */
  requestBody: Buffer | null;
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer | null;
};

export type Judgement = {
  /**
   * Operation and status, as in `idm getUser 200`, and parameters that were accepted, as in `idm listUsers ?limit`;
   * nothing where no document has the path.
   */
  touched: string[];
  faults: string[];
};

type Place = { document: string; path: string; route: RegExp; method: string; operation: Operation };
type Parameter = Extract<NonNullable<Operation["parameters"]>[number], { name: string }>;

/** The documents of the HTTP APIs. Which of the spellings of Schulconnex is used in a response depends on the app. */
export const documentNames = [
  "idm",
  "schulconnex",
  "schulconnex-1.7",
  "schulconnex-1.8",
  "oneroster",
  "oneroster-1.1",
  "sign-on",
  "admin",
];
const twins = documentNames.filter((name) => name.startsWith("schulconnex"));

/**
 * Makes the check of exchanges against documents, by name: for answers, whether the status is listed, the required
 * headers are there and the body is of a listed type and follows its schema; for requests that were accepted, whether
 * query, required headers and body are as described. A property that no schema names is a fault.
 */
export function makeExchangeCheck(documents: Record<string, OpenApiDocument>): (exchange: Exchange) => Judgement {
  const places = Object.entries(documents).flatMap(([document, contract]) =>
    listOperations(contract).map(({ path, method, operation }): Place => ({
      document,
      path,
      route: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      method: method.toUpperCase(),
      operation,
    })),
  );
  const checks = Object.fromEntries(
    Object.entries(documents).map(([name, document]) => [name, makeDocumentCheck(document)]),
  );
  const judgeBy = (name: string, exchange: Exchange): Judgement => {
    const path = exchange.target.split("?", 1)[0]!;
    const here = nearest(places.filter(({ document, route }) => document === name && route.test(path)));
    if (here.length === 0) return { touched: [], faults: [] };
    const method = exchange.method === "HEAD" ? "GET" : exchange.method;
    let place = here.find((one) => one.method === method);
    const say = (fault: string) => `${name} ${exchange.method} ${path} ${exchange.status}: ${fault}`;
    if (place === undefined) {
      // A browser asks before it calls from another origin.
      if (exchange.method === "OPTIONS" && exchange.status < 300) return { touched: [], faults: [] };
      if (exchange.status < 400) return { touched: [], faults: [say("the document has no such method")] };
      place = here[0]!;
      if (exchange.status === 405 && !("405" in place.operation.responses)) return { touched: [], faults: [] };
    }
    return {
      touched: [
        `${name} ${place.operation.operationId} ${exchange.status}`,
        ...acceptedParameters(exchange).map((parameter) => `${name} ${place.operation.operationId} ?${parameter}`),
      ],
      faults: checks[name]!(place.operation, exchange).map(say),
    };
  };
  return (exchange) => {
    const all = Object.fromEntries(Object.keys(documents).map((name) => [name, judgeBy(name, exchange)]));
    const kept = twins.find((name) => all[name]?.faults.length === 0);
    if (kept !== undefined)
      for (const name of twins) if (name !== kept && name in all) all[name] = { touched: [], faults: [] };
    return {
      touched: Object.values(all).flatMap(({ touched }) => touched),
      faults: Object.values(all).flatMap(({ faults }) => faults),
    };
  };
}

/** Filled as the service of the tests fills them. */
export const loadDocuments = async (): Promise<Record<string, OpenApiDocument>> =>
  Object.fromEntries(
    await Promise.all(documentNames.map(async (name) => [name, await loadDocument(name, "schultor")] as const)),
  );

/** Of the paths that fit, the one with the fewest parameters. */
function nearest(places: Place[]): Place[] {
  const parameters = ({ path }: Place) => path.split("{").length;
  const least = Math.min(...places.map(parameters));
  return places.filter((place) => parameters(place) === least);
}

/** A boolean may be spelled as PHP and Python do. */
function spelled({ type }: { type?: unknown }, values: readonly string[]): string | readonly string[] | undefined {
  if (type === "array") return values;
  const value = values[0]!;
  return type === "boolean" ? ({ 1: "true", 0: "false", True: "true", False: "false" }[value] ?? value) : value;
}

function makeDocumentCheck(document: OpenApiDocument): (operation: Operation, exchange: Exchange) => string[] {
  const made: Partial<Record<"json" | "text", ReturnType<typeof makeCheck>>> = {};
  const check = {
    get json() {
      return (made.json ??= makeCheck(document));
    },
    get text() {
      return (made.text ??= makeCheck(document, { coerceTypes: true }));
    },
  };
  return (operation, exchange) => {
    const faults = checkAnswer(operation, exchange);
    if (isAccepted(exchange)) faults.push(...checkQuery(operation, exchange), ...checkRequestBody(operation, exchange));
    return faults;
  };

  function checkAnswer({ responses }: Operation, { method, status, headers, body }: Exchange): string[] {
    const given = responses[String(status)] ?? responses[`${String(status)[0]!}XX`] ?? responses["default"];
    if (given === undefined) return ["this status is not described"];
    const answer: Answer = resolve(document, given);
    const faults = Object.entries(answer.headers ?? {}).flatMap(([name, header]) => {
      const { required = false, schema = {} } = resolve(document, header);
      const value = headers[name.toLowerCase()];
      if (value === undefined) return required ? [`the header ${name} is missing`] : [];
      return name.toLowerCase() === "content-type" ? [] : asFaults(`header ${name}`, check.text(schema, value));
    });
    if (body === null || method === "HEAD" || (isRedirect(status) && body.length === 0)) return faults;
    if (answer.content === undefined) return body.length === 0 ? faults : [...faults, "there is a body"];
    const type = typeOf(headers);
    // Of errors that a caller asks for as `application/json` the contract has one sentence.
    const media =
      answer.content[type] ?? (type === "application/json" ? answer.content["application/problem+json"] : undefined);
    if (media === undefined) return [...faults, `a body of the type ${type || "nothing"} is not described`];
    if (media.schema !== undefined && isJson(type))
      faults.push(...asFaults("body", check.json(media.schema, parseJson(body))));
    return faults;
  }

  function checkQuery(operation: Operation, { target, requestHeaders }: Exchange): string[] {
    const query = new URL(target, "http://localhost").searchParams;
    const known = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter));
    const names = new Set(known.filter((one) => one.in === "query").map(({ name }) => name));
    const ignoresOthers = operation["x-eov-allow-unknown-query-parameters"] === true;
    const faults = [...new Set(query.keys())]
      .filter((name) => name !== "" && !names.has(name) && !ignoresOthers)
      .map((name) => `the query parameter ${name} is not described`);
    for (const { name, in: where, required, schema = {} } of known) {
      if (where === "header" && required && requestHeaders[name.toLowerCase()] === undefined)
        faults.push(`the header ${name} of the request is missing`);
      if (where !== "query") continue;
      // OAuth takes a parameter without a value for one that is missing (RFC 6749, section 3.1).
      const values = query.getAll(name).filter((value) => value !== "" || !ignoresOthers);
      if (values.length === 0) {
        if (required) faults.push(`the query parameter ${name} is missing`);
        continue;
      }
      faults.push(...asFaults(`query parameter ${name}`, check.text(schema, spelled(schema, values))));
    }
    return faults;
  }

  function checkRequestBody({ requestBody }: Operation, { requestHeaders, requestBody: body }: Exchange): string[] {
    if (body === null) return [];
    // The body of a GET has no meaning.
    if (requestBody === undefined) return [];
    // A form without fields has no bytes.
    const isForm = "application/x-www-form-urlencoded" in (requestBody.content ?? {});
    if (body.length === 0) return requestBody.required && !isForm ? ["the request has no body"] : [];
    const type = typeOf(requestHeaders);
    const media = requestBody.content?.[type];
    if (media === undefined) return [`a request of the type ${type || "nothing"} is not described`];
    if (media.schema === undefined || !isJson(type)) return [];
    return asFaults("body of the request", check.json(media.schema, parseJson(body)));
  }
}

const acceptedParameters = (exchange: Exchange): string[] =>
  isAccepted(exchange) ? [...new Set(new URL(exchange.target, "http://localhost").searchParams.keys())] : [];

const isRedirect = (status: number) => status >= 300 && status < 400;

/** A refusal of an authorization request goes back to the app in an address, or in a form. */
const isAccepted = ({ status, headers, body }: Exchange) =>
  isRedirect(status)
    ? !/[?&#]error=/.test(headers["location"] ?? "")
    : status < 400 && !(headers["content-type"]?.startsWith("text/html") && body?.includes(' name="error"'));
const typeOf = (headers: Exchange["headers"]) => (headers["content-type"] ?? "").split(";", 1)[0]!.toLowerCase();
const isJson = (type: string) => /[/+]json$/.test(type);
const asFaults = (where: string, fault: string) => (fault === "" ? [] : [`${where}: ${fault}`]);

/** Undefined is against every schema. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
}
