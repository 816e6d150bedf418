// Shared by both scripts: a client for the server at $ENDPOINT, and functions to define, create and print a table.
import { CreateTableCommand, DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";

export const client = new DynamoDBClient({
  endpoint: process.env.ENDPOINT,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "secret" },
});

/** Return the parameters of a table whose keys are all strings. `indexes` is like `{ GSI1: ["gs1pk", "gs1sk"] }`. */
export function definition(name, key, indexes) {
  const schema = ([hash, range]) => [
    { AttributeName: hash, KeyType: "HASH" },
    { AttributeName: range, KeyType: "RANGE" },
  ];
  const names = [...new Set([key, ...Object.values(indexes)].flat())];
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: names.map((each) => ({ AttributeName: each, AttributeType: "S" })),
    KeySchema: schema(key),
    GlobalSecondaryIndexes: Object.entries(indexes).map(([index, keys]) => ({
      IndexName: index,
      KeySchema: schema(keys),
      Projection: { ProjectionType: "ALL" },
    })),
  };
}

export const create = (table) => client.send(new CreateTableCommand(table));

/** Print the table and its items in DynamoDB's JSON, in a stable order. */
export async function print(table) {
  const { Items } = await client.send(new ScanCommand({ TableName: table.TableName }));
  const sorted = Items.map((item) => Object.fromEntries(Object.entries(item).sort())).map((item) => JSON.stringify(item)).sort();
  console.log(`{"table": ${JSON.stringify(table)},\n"items": [\n${sorted.join(",\n")}\n]}`);
}
