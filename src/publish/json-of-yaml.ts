import { parse } from "yaml";

/** Runs in a thread. */
export default (yaml: string): string => JSON.stringify(parse(yaml));
