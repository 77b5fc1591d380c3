// Runs beside a paused bot, which cannot see that its pipe closes (exit-with-parent.ts). When the process that paused it ends, standard
// input closes here and the bot goes on: it finds the pipe closed and exits.

const [pid] = process.argv.slice(2);

const resume = (): void => {
  try {
    // A process that is not paused does not notice, so a process id that is in use again does no harm.
    process.kill(Number(pid), "SIGCONT");
  } catch {
    // It is gone.
  }
  process.exit();
};
process.stdin.once("end", resume).once("error", resume).resume();
