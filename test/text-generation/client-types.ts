import { realpathSync } from 'node:fs'
import ts from 'typescript-5'

const addedByClient: readonly string[] = ['Response.output_text']
const nullable: readonly string[] = ['Response.usage', 'Response.user']

/** The problems of a value: paths, and what is wrong there. Empty for a value of the type. */
export type Validate = (value: unknown) => readonly string[]

type Check = (value: unknown, path: string) => readonly string[]

export interface ClientTypes {
  /** Validates values against an exported type. */
  readonly validatorOf: (name: string) => Validate
  /** `Type.member` of all members in valid values that their types do not declare. */
  readonly undeclared: ReadonlySet<string>
}

/**
 * The types of OpenAI's client for responses, read from its `.d.ts` by the compiler.
 *
 * Two things about them differ from what OpenAI's API sends: the client itself adds `output_text`, and in a response that
 * has no usage or user these are null (see the examples of
 * https://platform.openai.com/docs/api-reference/responses-streaming).
 */
export const readClientTypes = (): ClientTypes => {
  const file = realpathSync(new URL('../../node_modules/openai/resources/responses/responses.d.ts', import.meta.url))
  const options = { strict: true, skipLibCheck: true, moduleResolution: ts.ModuleResolutionKind.Bundler }
  const program = ts.createProgram([file], { ...options, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  const exported = module ? checker.getExportsOfModule(module) : []
  const checks = new Map<ts.Type, Check>()
  const undeclared = new Set<string>()

  const nameOf = (type: ts.Type) => (type.aliasSymbol ?? type.getSymbol())?.name ?? '?'

  const checkOf = (type: ts.Type): Check => {
    let check = checks.get(type)
    if (!check) {
      // A type may contain itself.
      checks.set(type, (value, path) => (check ? check(value, path) : []))
      check = createCheck(type)
      checks.set(type, check)
    }
    return check
  }

  const createCheck = (type: ts.Type): Check => {
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return () => []
    if (type.isUnion()) return unionCheck(type.types)
    if (type.isStringLiteral() || type.isNumberLiteral()) return is(type.value)
    if (type.flags & ts.TypeFlags.BooleanLiteral) return is(checker.typeToString(type) === 'true')
    if (type.flags & ts.TypeFlags.Null) return is(null)
    if (type.flags & ts.TypeFlags.Undefined) return is(undefined)
    const primitive = [
      [ts.TypeFlags.String, 'string'],
      [ts.TypeFlags.Number, 'number'],
      [ts.TypeFlags.Boolean, 'boolean'],
    ].find(([flag]) => type.flags & (flag as number))
    if (primitive) return (value, path) => (typeof value === primitive[1] ? [] : [`${path} is no ${primitive[1]}`])
    if (checker.isArrayType(type)) return arrayCheck(checker.getTypeArguments(type as ts.TypeReference)[0] as ts.Type)
    // `string & {}`: any string, beside the literals of an editor's suggestions.
    if (type.isIntersection()) return checkOf(type.types[0] as ts.Type)
    return objectCheck(type)
  }

  const is =
    (wanted: unknown): Check =>
    (value, path) =>
      value === wanted ? [] : [`${path} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`]

  const arrayCheck =
    (element: ts.Type): Check =>
    (value, path) =>
      Array.isArray(value)
        ? value.flatMap((each, index) => checkOf(element)(each, `${path}[${index}]`))
        : [`${path} is no array`]

  const unionCheck = (types: readonly ts.Type[]): Check => {
    const kinds = types.map((each) => {
      const kind = each.getProperty('type')
      const type = kind && checker.getTypeOfSymbol(kind)
      return type?.isStringLiteral() ? type.value : undefined
    })
    return (value, path) => {
      const kind = (value as { type?: unknown } | null)?.type
      const named = types.filter((_, index) => kind !== undefined && kinds[index] === kind)
      let problems: readonly string[] = [`${path} has the unknown type ${JSON.stringify(kind)}`]
      if (named.length === 0 && !kinds.includes(undefined)) return problems
      for (const each of named.length > 0 ? named : types) {
        problems = checkOf(each)(value, path)
        if (problems.length === 0) return problems
      }
      return problems
    }
  }

  const objectCheck = (type: ts.Type): Check => {
    const name = nameOf(type)
    const members = checker.getPropertiesOfType(type).map((property) => ({
      key: property.name,
      optional: (property.flags & ts.SymbolFlags.Optional) !== 0 || addedByClient.includes(`${name}.${property.name}`),
      type: checker.getTypeOfSymbol(property),
    }))
    const others = checker.getIndexInfosOfType(type)[0]?.type
    return (value, path) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`]
      const fields = value as Record<string, unknown>
      const problems = members.flatMap(({ key, optional, type: memberType }) => {
        if (fields[key] === null && nullable.includes(`${name}.${key}`)) return []
        if (Object.hasOwn(fields, key)) return checkOf(memberType)(fields[key], `${path}.${key}`)
        return optional ? [] : [`${path}.${key} is missing in ${name}`]
      })
      const extra = Object.keys(fields).filter((key) => !members.some((member) => member.key === key))
      if (others) return [...problems, ...extra.flatMap((key) => checkOf(others)(fields[key], `${path}.${key}`))]
      if (problems.length === 0) for (const key of extra) undeclared.add(`${name}.${key}`)
      return problems
    }
  }

  return {
    undeclared,
    validatorOf(name) {
      const symbol = exported.find((each) => each.name === name)
      if (!symbol) throw new Error(`OpenAI's client has no type ${name}`)
      const check = checkOf(checker.getDeclaredTypeOfSymbol(symbol))
      return (value) => check(value, name)
    },
  }
}
