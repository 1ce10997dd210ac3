import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest; none of them should be the last one running. */
const slowest = [
  ...["faults/webhooks", "api/sign-on/login", "access/events-model", "access/list-plans", "faults/embedded-postgres"],
  ...["security/readers", "cli/readme", "flows/stream", "api/webhooks/queues", "platform/command-line", "cli/import"],
  ...["faults/stop", "platform/start", "imports/properties", "imports/repeated", "api/webhooks/backlog"],
];

/** Runs the slowest files first, the others in the order of vitest. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slowest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? slowest.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
