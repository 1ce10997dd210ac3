import { StringDecoder } from "node:string_decoder";
import { makeJsonArrayReader, type JsonFault } from "./json.ts";

/** Parses an array of JSON record by record, so that memory does not grow with it. Errors: those of `refuse`. */
export async function* readJsonRecords(
  bytes: AsyncIterable<Buffer>,
  refuse: (fault: JsonFault["code"] | "json_cut") => Error,
): AsyncGenerator<unknown[]> {
  const decoder = new StringDecoder("utf8");
  let fault: JsonFault | undefined;
  const reader = makeJsonArrayReader((found) => (fault ??= found));
  const parse = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      throw refuse("json_broken");
    }
  };
  let isFirst = true;
  for await (const chunk of bytes) {
    const text = decoder.write(chunk);
    const records = reader.push(isFirst ? text.replace(/^\ufeff/, "") : text).map((element) => parse(element.text));
    if (text !== "") isFirst = false;
    if (fault !== undefined) throw refuse(fault.code);
    if (records.length > 0) yield records;
  }
  reader.end();
  if (fault !== undefined) throw refuse("json_cut");
}
