export type { Identify, Identity } from '../plugins/shared/identify.ts'
export { type Log, Problem, type ProblemBody, problemBody, renderProblems } from '../plugins/shared/problem.ts'
export { createFront, type FrontOptions } from './front.ts'
export { assetLibrary, type GatewayOptions, gateway } from './gateway.ts'
