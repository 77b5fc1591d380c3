/** Half a KiB, the unit of `ulimit -f` in POSIX. */
const BLOCKS_PER_KIB = 2;

/** Returns the command line under which no file that the program writes grows beyond this size, as on a disk that is almost full. */
export const withFilesUpTo = (kib: number, ...command: readonly string[]): readonly string[] => [
  "sh",
  "-c",
  `trap "" XFSZ; ulimit -f ${kib * BLOCKS_PER_KIB}; exec "$@"`,
  "-",
  ...command,
];
