import { TextProblem } from '../protocol/problem.ts'

/** A request names an object that another upstream keeps. */
export class OtherUpstreamProblem extends TextProblem {
  /** URL of the upstream that keeps it. */
  readonly upstream: string

  constructor(param: string, { model, upstream }: { readonly model: string; readonly upstream: string }) {
    super(400, `${param} was created by the model ${model}, which another upstream serves`, { param })
    this.upstream = upstream
  }
}
