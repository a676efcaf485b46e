import { cpus, loadavg, release, type as system, totalmem } from 'node:os'
import type { Tree } from './options.ts'

/** The environment of a measurement, as text and as values. */
export const environment = (trees: readonly Tree[]) => {
  const values = {
    at: new Date().toISOString(),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory: totalmem(),
    load: loadavg()[0] ?? 0,
    system: `${system()} ${release()}`,
    bun: Bun.version,
    comparedServers: { nginx: versionOf(['nginx', '-v']), haproxy: versionOf(['haproxy', '-v']) },
    trees: trees.map(({ name, path }) => ({ name, commit: commitOf(path) })),
  }
  const lines = [
    `${values.processor}, ${values.cores} cores, ${Math.round(values.memory / 2 ** 30)} GiB, load ${values.load.toFixed(1)} before`,
    `${values.system}, Bun ${values.bun}`,
    ...Object.values(values.comparedServers).filter((version) => version !== undefined),
    ...values.trees.map(({ name, commit }) => `${name}: ${commit}`),
  ]
  return { values, text: lines.join('\n') }
}

/** The version output of a program. Undefined: it is not installed. */
const versionOf = (command: readonly [string, string]): string | undefined => {
  if (Bun.which(command[0]) === null) return undefined
  const { stdout, stderr } = Bun.spawnSync([...command])
  return `${stdout}${stderr}`.split('\n', 1)[0]
}

const commitOf = (path: string): string => {
  const said = (...args: readonly string[]) => {
    const { exitCode, stdout } = Bun.spawnSync(['git', '-C', path, ...args])
    return exitCode === 0 ? stdout.toString().trim() : undefined
  }
  const commit = said('rev-parse', '--short', 'HEAD') ?? 'no commit'
  return said('status', '--porcelain') ? `${commit} and changes` : commit
}
