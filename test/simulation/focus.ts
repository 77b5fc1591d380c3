// What a random history is mostly about. Without a focus, some states are so rare that a campaign of some hundred histories misses them. So
// nearly half of the seeds choose a focus: some acts are more likely, and some calls go wrong more often and in chosen ways.

const USUAL = {
  start: 4,
  startAgain: 1,
  raise: 8,
  list: 2,
  elsewhere: 2,
  hide: 1,
  end: 1,
  open: 6,
  submit: 6,
  decide: 16,
  submitAgain: 3,
  undo: 4,
  handle: 3,
  ask: 2,
  answerUnknownStart: 1,
  stop: 1,
  lift: 1,
  freeze: 1,
  unfreeze: 1,
  leave: 2,
  die: 3,
  stall: 2,
  cutOff: 2,
  jump: 1,
  overtake: 0,
  decideAndUndo: 0,
  changePolicy: 0,
};

export type ActName = keyof typeof USUAL;
type Weights = { readonly [Name in ActName]: number };

export type Focus = {
  /** How likely each act is. */
  readonly weights: Weights;
  /** Calls that go wrong more often than others, in which ways, and how many of a thousand. */
  readonly often?: { readonly place: RegExp; readonly ways: readonly string[]; readonly perMille?: number };
  /** How long a late post is under way (ms). Left out: as long as every late call. */
  readonly latePostMs?: readonly [least: number, most: number];
};

/** Weights of a history in which people decide often, and little else keeps them from it. */
const DECIDING: Weights = {
  ...USUAL,
  raise: 16,
  list: 0,
  elsewhere: 0,
  end: 0,
  decide: 40,
  stop: 0,
  freeze: 0,
  leave: 0,
  stall: 1,
  cutOff: 1,
};

export const FOCI = {
  none: { weights: USUAL },
  starts: {
    weights: { ...USUAL, start: 40, startAgain: 4, end: 0, freeze: 0, die: 20 },
    often: { place: /^POST run$/, ways: ["busy", "unanswered", "late"] },
  },
  "late posts": {
    weights: { ...DECIDING, start: 12 },
    often: { place: /^post /, ways: ["late"] },
    // Longer than a process waits before it posts again, and shorter than until it looks for copies.
    latePostMs: [4_500, 25_000],
  },
  "lost decisions": {
    weights: { ...DECIDING, overtake: 10 },
    often: { place: /^POST decision$/, ways: ["lost", "dies"] },
  },
  "overtaken decisions": { weights: { ...DECIDING, overtake: 20 } },
  "refused decisions": {
    weights: { ...DECIDING, raise: 8 },
    often: { place: /^POST decision$/, ways: ["refused"] },
  },
  "stale reads": { weights: DECIDING, often: { place: /^GET run answers$/, ways: ["stale"] } },
  undos: { weights: { ...DECIDING, decide: 4, decideAndUndo: 30 } },
  suspensions: { weights: DECIDING, often: { place: /^store save$/, ways: ["outlasts"], perMille: 150 } },
  "changes of the policy": { weights: { ...DECIDING, changePolicy: 16 } },
} as const satisfies { readonly [name: string]: Focus };
export type FocusName = keyof typeof FOCI;

export const FOCUS_NAMES = Object.keys(FOCI) as [FocusName, ...FocusName[]];
