import { createHmac } from "node:crypto";

/** Each names one step of making a signature that differs from the contract. */
export const signatureFaults = [
  ...(["secret_as_text", "secret_decoded", "secret_without_prefix", "secret_decoded_with_prefix"] as const),
  ...(["secret_lacks_prefix", "secret_with_line_end"] as const),
  ...(["signed_body_alone", "signed_with_id_and_time", "signed_without_time", "signed_without_id"] as const),
  ...(["body_trimmed", "body_line_end_added", "body_crlf", "body_lf", "body_byte_order_mark"] as const),
  ...(["body_written_again", "body_indented", "body_wrong_encoding"] as const),
  ...(["form_hex", "form_upper_case", "form_base64", "form_base64url"] as const),
  ...(["prefix_missing", "prefix_v1", "prefix_sha256"] as const),
] as const;
export type SignatureFault = (typeof signatureFaults)[number];

export const eventFaults = [
  ...(["headers_missing", "id_or_timestamp_missing", "secret_form"] as const),
  ...(["timestamp_no_seconds", "timestamp_old", "timestamp_ahead"] as const),
] as const;
export type EventFault = (typeof eventFaults)[number];

type Scheme = "ep" | "standard";

/** `faults` turn one signature into the other, in the order of the steps; null if no known fault does. */
export type ComparedSignature = {
  scheme: Scheme;
  source: "header" | "computed";
  given: string;
  expected: string;
  isGood: boolean;
  faults: SignatureFault[] | null;
};

/**
 * Shape: `isGood` if every signature fits; `faults` may then still tell of its time.
 * Units: `ageSeconds` is how far the timestamp is behind the clock; null without a timestamp.
 */
type SignatureReport = {
  isGood: boolean;
  compared: ComparedSignature[];
  faults: EventFault[];
  bodyBytes: number;
  ageSeconds: number | null;
};

/** Header names are in lower case; `computed` is what the app's own code made of the same event. */
export type ReceivedEvent = {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  secret: string;
  computed?: string | undefined;
  now: Date;
};

const prefix = "whsec_";
const leewaySeconds = 300;

type Step<Value> = { value: Value; faults: readonly SignatureFault[] };
type Framing = "body" | "signed" | "no-time" | "no-id";

const step = <Value>(value: Value, ...faults: SignatureFault[]): Step<Value> => ({ value, faults });

function keysOf(secret: string, scheme: Scheme): Step<string | Buffer>[] {
  const bare = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const decoded = Buffer.from(bare, "base64");
  const asText = (value: string, ...faults: SignatureFault[]) =>
    scheme === "ep" ? step(value, ...faults) : step(value, ...faults, "secret_as_text");
  return [
    asText(secret),
    scheme === "standard" ? step(decoded) : step(decoded, "secret_decoded"),
    bare === secret ? asText(prefix + secret, "secret_lacks_prefix") : asText(bare, "secret_without_prefix"),
    step(Buffer.from(secret, "base64"), "secret_decoded_with_prefix"),
    ...["\n", "\r\n", " "].map((end) => asText(secret + end, "secret_with_line_end")),
  ];
}

function framingsOf(scheme: Scheme): Step<Framing>[] {
  return [
    scheme === "ep" ? step("body") : step("body", "signed_body_alone"),
    scheme === "standard" ? step("signed") : step("signed", "signed_with_id_and_time"),
    step("no-time", "signed_without_time"),
    step("no-id", "signed_without_id"),
  ];
}

function bodiesOf(body: Buffer): Step<Buffer>[] {
  const text = body.toString();
  const lf = text.replaceAll("\r\n", "\n");
  const changed: Step<string>[] = [
    // Before trimming, which treats the mark as a space.
    step(text.startsWith("\ufeff") ? text.slice(1) : `\ufeff${text}`, "body_byte_order_mark"),
    ...(text.trim() === text ? [] : [step(text.trim(), "body_trimmed")]),
    ...["\n", "\r\n"].map((end) => step(text + end, "body_line_end_added")),
    step(lf.replaceAll("\n", "\r\n"), "body_crlf"),
    step(lf, "body_lf"),
    ...rewritten(text),
    step(body.toString("latin1"), "body_wrong_encoding"),
  ];
  const others = changed.map(({ value, faults }) => ({ value: Buffer.from(value), faults }));
  const readAsLatin1 = step(Buffer.from(text, "latin1"), "body_wrong_encoding");
  return [step(body), ...others.filter(({ value }) => !value.equals(body)), readAsLatin1];
}

function rewritten(text: string): Step<string>[] {
  try {
    const value: unknown = JSON.parse(text);
    const spaced = JSON.stringify(value, null, 1).replaceAll(/,?\n */g, (end) => (end.startsWith(",") ? ", " : ""));
    return [
      step(JSON.stringify(value), "body_written_again"),
      step(spaced.replaceAll("\n", ""), "body_written_again"),
      ...[2, 4].map((indent) => step(JSON.stringify(value, null, indent), "body_indented")),
    ];
  } catch {
    return [];
  }
}

function formsOf(digest: Buffer, scheme: Scheme): Step<string>[] {
  const [hex, base64, url] = [digest.toString("hex"), digest.toString("base64"), digest.toString("base64url")];
  if (scheme === "ep")
    return [step(hex), step(base64, "form_base64"), step(url, "form_base64url")].flatMap(({ value, faults }) => [
      step(value, ...faults),
      step(`v1,${value}`, ...faults, "prefix_v1"),
      step(`sha256=${value}`, ...faults, "prefix_sha256"),
    ]);
  return [
    step(base64),
    step(hex, "form_hex"),
    step(hex.toUpperCase(), "form_hex", "form_upper_case"),
    step(url, "form_base64url"),
  ].flatMap(({ value, faults }) => [step(`v1,${value}`, ...faults), step(value, ...faults, "prefix_missing")]);
}

type Making = { scheme: Scheme; id: string; time: string; secret: string; bodies: Step<Buffer>[] };

const frame = ({ id, time }: Making, framing: Framing, body: Buffer): Buffer => {
  const before = { body: "", signed: `${id}.${time}.`, "no-time": `${id}.`, "no-id": `${time}.` }[framing];
  return Buffer.concat([Buffer.from(before), body]);
};

const hmac = (key: string | Buffer, data: Buffer): Buffer => createHmac("sha256", key).update(data).digest();

function findFaults(signature: string, making: Making): SignatureFault[] | null {
  let best: SignatureFault[] | null = null;
  for (const body of making.bodies)
    for (const framing of framingsOf(making.scheme)) {
      const data = frame(making, framing.value, body.value);
      for (const key of keysOf(making.secret, making.scheme))
        for (const form of formsOf(hmac(key.value, data), making.scheme)) {
          const faults = [...key.faults, ...framing.faults, ...body.faults, ...form.faults];
          if ((best === null || faults.length < best.length) && signature === form.value) best = faults;
        }
    }
  return best;
}

function compare(source: ComparedSignature["source"], written: string, making: Making): ComparedSignature {
  const { scheme } = making;
  const isRight = ({ faults }: Step<unknown>) => faults.length === 0;
  const key = keysOf(making.secret, scheme).find(isRight)!;
  const framing = framingsOf(scheme).find(isRight)!;
  const data = frame(making, framing.value, making.bodies[0]!.value);
  const expected = formsOf(hmac(key.value, data), scheme)[0]!.value;
  // Hex is accepted in any case; one of several signatures is enough.
  const all = written
    .split(/\s+/)
    .map((one) => (scheme === "ep" && /^[0-9a-f]+$/i.test(one) ? one.toLowerCase() : one));
  const isGood = all.includes(expected);
  const explanations = isGood ? [] : all.map((one) => findFaults(one, making)).filter((faults) => faults !== null);
  const faults = isGood ? [] : (explanations.sort((a, b) => a.length - b.length)[0] ?? null);
  return { scheme, source, given: written, expected, isGood, faults };
}

/** Source: openapi/webhooks.yaml; Standard Webhooks 1.0. Never returns the secret. */
export function explainSignature({ headers, body, secret, computed, now }: ReceivedEvent): SignatureReport {
  const read = (name: string): string => headers[name]?.trim() ?? "";
  const [id, time, ep, standard] = [
    "webhook-id",
    "webhook-timestamp",
    "x-ep-signature-sha256",
    "webhook-signature",
  ].map(read) as [string, string, string, string];
  const making = { id, time, secret: secret.trim(), bodies: bodiesOf(body) };
  const own = computed?.trim() ?? "";
  const compared: ComparedSignature[] = [];
  if (ep !== "") compared.push(compare("header", ep, { ...making, scheme: "ep" }));
  if (standard !== "") compared.push(compare("header", standard, { ...making, scheme: "standard" }));
  if (own !== "") compared.push(compareOwn(own, making));
  const ageSeconds = /^\d{1,11}$/.test(time) ? Math.floor(now.getTime() / 1000) - Number(time) : null;
  const faults: EventFault[] = [];
  if (ep === "" && standard === "" && own === "") faults.push("headers_missing");
  if (standard !== "" && (id === "" || time === "")) faults.push("id_or_timestamp_missing");
  if (!/^whsec_[A-Za-z0-9+/]{32,}=*$/.test(making.secret)) faults.push("secret_form");
  if (time !== "" && (ageSeconds === null || ageSeconds < -1e9)) faults.push("timestamp_no_seconds");
  else if (ageSeconds !== null && ageSeconds > leewaySeconds) faults.push("timestamp_old");
  else if (ageSeconds !== null && ageSeconds < -leewaySeconds) faults.push("timestamp_ahead");
  const isGood = compared.length > 0 && compared.every((one) => one.isGood);
  return { isGood, compared, faults, bodyBytes: body.length, ageSeconds };
}

function compareOwn(own: string, making: Omit<Making, "scheme">): ComparedSignature {
  const [ep, standard] = (["ep", "standard"] as const).map((scheme) =>
    compare("computed", own, { ...making, scheme }),
  ) as [ComparedSignature, ComparedSignature];
  if (standard.faults !== null && (ep.faults === null || standard.faults.length < ep.faults.length)) return standard;
  return ep.faults === null && /^v1,/.test(own) ? standard : ep;
}
