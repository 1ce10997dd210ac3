/** Says what is wrong, and quotes nothing of the text. */
export class JsonFault extends Error {}

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = [34, 92, 44, 91, 93, 123, 125];
/** Unlike `trim`, without the byte order mark. */
const space = /^[ \t\r\n]*$/;
const [deepest, longestItem] = [32, 1e6];

/** Cuts a JSON array that comes in pieces into its items, of which it holds one at a time. Errors: JsonFault. */
export function makeItemReader(onItem: (item: unknown, position: number) => void) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let [held, depth, count, isText, isEscaped, isOver] = ["", 0, 0, false, false, false];
  const endItem = (text: string): void => {
    count += 1;
    onItem(
      orFault(`record ${count} is not valid JSON`, () => JSON.parse(text) as unknown),
      count,
    );
  };
  function read(text: string): void {
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const sign = text.charCodeAt(at);
      if (isEscaped) isEscaped = false;
      else if (isText) {
        isEscaped = sign === backslash;
        isText = sign !== quote;
      } else if (depth === 0) {
        if (sign === openList && !isOver) [depth, start] = [1, at + 1];
        else if (!space.test(text[at]!)) throw new JsonFault(isOver ? "text after the array" : "no JSON array");
      } else if (sign === quote) isText = true;
      else if (sign === openList || sign === openObject) {
        if (++depth > deepest) throw new JsonFault(`record ${count + 1} is nested deeper than ${deepest} levels`);
      } else if ((sign === closeList || sign === closeObject) && --depth === 0) {
        if (sign === closeObject) throw new JsonFault("an array that a brace ends");
        const last = held + text.slice(start, at);
        if (count > 0 || !space.test(last)) endItem(last);
        [held, isOver] = ["", true];
      } else if (sign === comma && depth === 1) {
        endItem(held + text.slice(start, at));
        [held, start] = ["", at + 1];
      }
    }
    if (depth > 0) held += text.slice(start);
    if (held.length > longestItem) throw new JsonFault(`record ${count + 1} is longer than 1 MB`);
  }
  const decode = (bytes?: Uint8Array) =>
    orFault("bytes that are not UTF-8", () => decoder.decode(bytes, { stream: bytes !== undefined }));
  return {
    push: (bytes: Uint8Array): void => read(decode(bytes)),
    end(): void {
      read(decode());
      if (!isOver) throw new JsonFault(depth === 0 ? "no JSON array" : `an array that stops in record ${count + 1}`);
    },
  };
}

function orFault<T>(message: string, work: () => T): T {
  try {
    return work();
  } catch {
    throw new JsonFault(message);
  }
}
