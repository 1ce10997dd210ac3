export type SandboxStepName =
  "JOIN" | "MOVE" | "LEAVE" | "RESTORE" | "MANY" | "SYNC_OFF" | "SYNC_ON" | "NEW_YEAR" | "ERASE";

/** The steps in order, each with what an app should see and do. */
export const sandboxSteps: readonly { step: SandboxStepName; expectation: string }[] = [
  {
    step: "JOIN",
    expectation:
      "Three pupils join class 5a. The app sees three new people and a changed group: make accounts for them.",
  },
  {
    step: "MOVE",
    expectation: "One of them moves from 5a to 5b. The person and both groups change: keep the account and its work.",
  },
  {
    step: "LEAVE",
    expectation: "Another one leaves. The person is deleted softly: end the access, and keep the data for now.",
  },
  {
    step: "RESTORE",
    expectation: "The one who left comes back with the same id. The account is as before, with its data and class.",
  },
  {
    step: "MANY",
    expectation:
      "1,000 pupils and a new group come at once. The app gets more than 1,000 events: work through them in turn, and lose none.",
  },
  {
    step: "SYNC_OFF",
    expectation:
      "The school switches sync off. It and its people are gone, and reading it answers 404: delete what came from the sync, and keep the accounts of those who signed in.",
  },
  {
    step: "SYNC_ON",
    expectation: "The school switches sync on again. Everything is back with the same ids: make no second accounts.",
  },
  {
    step: "NEW_YEAR",
    expectation:
      "The new school year: 5a is 6a and 5b is 6b with the same ids, 10a is deleted and its pupils leave, and there is a new 5a with new pupils. Know groups by id, not by name.",
  },
  {
    step: "ERASE",
    expectation:
      "One of those who joined is deleted for good. Delete everything about them, and confirm the erasure if your app confirms erasures.",
  },
];
