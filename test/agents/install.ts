/** `bun test/agents/install.ts [agent…]`: installs the agents that the tests of this folder run. Without names, all of them. */
import { type AgentName, agentNames, install } from './released.ts'

const names = process.argv.slice(2)
const unknown = names.find((name) => !agentNames.includes(name as AgentName))
if (unknown !== undefined) throw new Error(`${unknown} is none of ${agentNames.join(', ')}`)
for (const name of names.length > 0 ? (names as AgentName[]) : agentNames) {
  console.log(`installing ${name}`)
  install(name)
}
