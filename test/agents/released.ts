import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describeIf, describeSlow, isSlow } from '../support/run-if.ts'

/** The released agents that the tests run: their npm packages, and the names of their commands. */
const packages = {
  codex: ['@openai/codex', '0.169.0', 'codex'],
  'claude-code': ['@anthropic-ai/claude-code', '2.1.330', 'claude'],
  opencode: ['opencode-ai', '1.18.33', 'opencode'],
  'qwen-code': ['@qwen-code/qwen-code', '0.24.4', 'qwen'],
} as const

export type AgentName = keyof typeof packages

export const agentNames = Object.keys(packages) as readonly AgentName[]

/** Outside of the clone: they are several hundred megabytes, and all clones share them. */
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice-agents')

const folderOf = (agent: AgentName): string => join(cache, `${agent}-${packages[agent][1]}`)

const isInstalled = (agent: AgentName): boolean => existsSync(folderOf(agent))

/** The agent's command. */
export const commandOf = (agent: AgentName): string => join(folderOf(agent), 'node_modules/.bin', packages[agent][2])

/** Installs an agent from the package registry, unless it is there. Throws an Error with what the installer printed. */
export const install = (agent: AgentName): void => {
  if (isInstalled(agent)) return
  const [name, version] = packages[agent]
  const folder = `${folderOf(agent)}.${process.pid}`
  mkdirSync(folder, { recursive: true })
  // Some of the packages put their binary in place after the installation.
  const manifest = { private: true, dependencies: { [name]: version }, trustedDependencies: [name] }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const { status, stderr } = spawnSync(process.execPath, ['install'], { cwd: folder, encoding: 'utf8' })
  if (status === 0 && !isInstalled(agent)) renameSync(folder, folderOf(agent))
  rmSync(folder, { recursive: true, force: true })
  if (status !== 0) throw new Error(`${name}@${version} could not be installed: ${stderr}`)
}

/** Tests of an agent. They are skipped where it is not installed. With slow tests, they install it first. */
export const describeAgent = (agent: AgentName, tests: () => void): void => {
  if (isSlow) install(agent)
  describeIf(isInstalled(agent), `not installed: bun test/agents/install.ts ${agent}`)(agent, tests)
}

/** The same for an agent whose tests take tens of seconds. */
export const describeSlowAgent = (agent: AgentName, tests: () => void): void =>
  isSlow ? describeAgent(agent, tests) : describeSlow(agent, tests)
