/** `input`: what apps send, `output`: what apps read. Of a webhook the service sends the body: an output. */
export type Direction = "input" | "output";

/**
 * A change that breaks somebody.
 *
 * Shape: `where` names operation and place; `says` is what changed, `breaks` who notices and how, `instead` what to do.
 */
export type Break = { kind: Kind; where: string; says: string; breaks: string; instead: string };

type Advice = { breaks: string; instead: string };

const gone = "Keep it, mark it `deprecated` with `x-sunset`, and remove it after that date.";
const beside = "Leave it as it is and add the new form beside it, under another name.";
const optional = "Make it optional, with the old behaviour for those who leave it out.";

const callers = "Apps that call it fail.";
const senders = "Apps that send what was allowed before are refused.";
const readers = "Apps that read it meet what the old contract ruled out.";
const generated = "Code on top of a generated client no longer compiles once the client is generated again.";

const byDirection: Record<Direction, Advice> = {
  input: { breaks: senders, instead: `Take the old form still. ${beside}` },
  output: { breaks: readers, instead: `Keep what was promised. ${beside}` },
};

/** Every kind of break, with who breaks and what to do instead; where it depends on the direction, by direction. */
const kinds = {
  "path-removed": { breaks: callers, instead: gone },
  "operation-removed": { breaks: callers, instead: gone },
  "document-removed": { breaks: "Every app that uses it fails.", instead: "Keep the document." },
  "server-removed": { breaks: "Apps that call this address fail.", instead: "Keep the address and add the new one." },
  "sunset-earlier": {
    breaks: "Apps whose teams planned with the announced date fail earlier than they were told.",
    instead: "Keep the announced date, or choose a later one.",
  },
  "operation-id-changed": {
    breaks: generated,
    instead: "Keep the operationId: it is the name of the clients' method.",
  },
  "tag-changed": {
    breaks: generated,
    instead: "Keep the first tag: several generators name a class after it. Add others behind it.",
  },
  "security-changed": {
    breaks: "Apps whose token or credentials sufficed are refused.",
    instead: "Accept the old way in beside the new one, with no more scopes than before.",
  },
  "security-scheme-changed": {
    breaks: "Apps that authenticate the old way are refused.",
    instead: "Keep the scheme and add another one beside it.",
  },
  "scope-removed": {
    breaks: "Apps that ask for this scope get no token at all.",
    instead: "Keep the scope, if only as one that gives nothing.",
  },
  "parameter-removed": { breaks: "Apps that rely on it are refused or not heard.", instead: gone },
  "parameter-moved": {
    breaks: "Apps that send it at the old place are not heard.",
    instead: "Take it at both places.",
  },
  "path-parameter-renamed": {
    breaks: generated,
    instead: "Keep the name: addresses stay the same, but generated clients name an argument after it.",
  },
  "parameter-required": { breaks: "Apps that do not send it are refused.", instead: optional },
  "parameter-optional": { breaks: readers, instead: "Send it always." },
  "parameter-style-changed": { breaks: senders, instead: beside },
  "body-required": { breaks: "Apps that send no body are refused.", instead: optional },
  "body-optional": { breaks: readers, instead: "Send a body always." },
  "body-removed": { breaks: "What apps send or read there is lost.", instead: gone },
  "media-type-removed": { breaks: "Apps that send or ask for this media type are refused.", instead: gone },
  "media-type-added": {
    breaks: "Receivers get a body that they cannot read.",
    instead: "Send it to receivers that ask for it, at an address of its own.",
  },
  "encoding-changed": { breaks: senders, instead: beside },
  "status-removed": {
    breaks: "Code that handles this status is not reached, and another one is not handled.",
    instead: gone,
  },
  "success-added": {
    breaks: "Apps take a success that they do not know for an error, or read a body that is not there.",
    instead: "Answer with the status that is documented, or make a new operation.",
  },
  "header-removed": { breaks: "Apps that read the header fail.", instead: gone },
  "header-optional": { breaks: "Apps that read the header fail when it is missing.", instead: "Send it always." },
  "header-required": { breaks: "Receivers that do not send the header are refused.", instead: optional },
  "schema-removed": { breaks: "Apps that read it fail.", instead: gone },
  "property-removed": { breaks: "Apps that use the property fail, or lose what they send.", instead: gone },
  "property-required": { breaks: "Apps that do not send it are refused.", instead: optional },
  "property-optional": { breaks: "Apps fail where it is missing.", instead: "Keep it required." },
  "object-closed": { breaks: "Apps that send further properties are refused.", instead: "Ignore what is not known." },
  "default-changed": {
    breaks: "Apps that leave it out get another behaviour, unasked.",
    instead: "Keep the default; who wants the new behaviour asks for it.",
  },
  "enum-value-removed": { breaks: "Apps that send this value are refused.", instead: "Take the value still." },
  "enum-value-added": {
    breaks: "Generated clients refuse a value that they do not know, and with it the whole answer.",
    instead: "Answer the old values and put the new one into a property of its own.",
  },
  "type-changed": byDirection,
  "format-changed": byDirection,
  "nullability-changed": byDirection,
  "limit-changed": byDirection,
  "alternative-changed": byDirection,
  "discriminator-changed": byDirection,
  "unknown-change": byDirection,
} satisfies Record<string, Advice | Record<Direction, Advice>>;

export type Kind = keyof typeof kinds;
/** The kinds of breaks that there are. */
export const listKinds = (): Kind[] => Object.keys(kinds) as Kind[];

/** Makes the finding of a break; `direction` matters for kinds that break apps in two ways. */
export function makeBreak(kind: Kind, where: string, says: string, direction: Direction = "input"): Break {
  const advice = kinds[kind];
  return { kind, where, says, ...("breaks" in advice ? advice : advice[direction]) };
}
