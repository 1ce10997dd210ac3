import type { Option } from "../option.ts";
import { wholeNumber } from "../values.ts";

export const listOptions = {
  LISTS_PER_APP: {
    value: wholeNumber(1, 1000),
    default: "32",
    meaning:
      "Lists that one app may have open in each process at the same time: waiting, being read or being sent. " +
      "Further lists get 429, or 503 beyond eight times this number for all apps together.",
    example: "64",
  },
  LIST_WAIT_SECONDS: {
    value: wholeNumber(1, 60),
    default: "20",
    meaning: "Time that a list waits for its turn to be read before it gets 429 or 503.",
    example: "10",
  },
  LIST_STALL_SECONDS: {
    value: wholeNumber(1, 100),
    default: "30",
    meaning: "Time in which a client must read the next 64 KiB of a list. Slower clients are disconnected.",
    example: "60",
  },
  LIST_TOTAL_SECONDS: {
    value: wholeNumber(1, 7200),
    default: "900",
    meaning:
      "Time in which a client must read a whole list. Slower clients are disconnected; they can read pages " +
      "instead.",
    example: "1800",
  },
} as const satisfies Record<string, Option>;
