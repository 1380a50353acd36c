# What serving on SageMaker needs, to take and change: a bucket, an image registry, a role, a model,
# an endpoint configuration and an endpoint, serverless or on an instance that is always on.
#
# The registry must hold the image before a model can name it, so apply in two steps:
#
#   terraform apply -var name=retina -var region=us-east-1 -target aws_ecr_repository.images
#   docker push …    (bancada image build --help)
#   terraform apply -var name=retina -var region=us-east-1
#
# An endpoint on an instance is billed until `terraform destroy`; a serverless one by its requests.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.30"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "name" {
  description = "Name for everything that is created: lower-case letters, digits and hyphens."
  type        = string
}

variable "region" {
  type = string
}

variable "image_tag" {
  type    = string
  default = "latest"
}

variable "model_data" {
  description = "Key of the model's archive in the bucket (model.tar.gz); null means that the image contains the model."
  type        = string
  default     = null
}

variable "serverless" {
  description = "Memory in MB and the most requests at a time; null means an instance that is always on."
  type = object({
    memory      = number
    concurrency = number
  })
  default = {
    memory      = 2048
    concurrency = 5
  }
}

variable "instance_type" {
  description = "Of an endpoint that is always on."
  type        = string
  default     = "ml.c5.large"
}

resource "aws_s3_bucket" "models" {
  bucket_prefix = "${var.name}-"
  force_destroy = true
}

resource "aws_s3_bucket_public_access_block" "models" {
  bucket                  = aws_s3_bucket.models.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_ecr_repository" "images" {
  name         = var.name
  force_delete = true

  image_scanning_configuration {
    scan_on_push = true
  }
}

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["sagemaker.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "endpoint" {
  statement {
    actions   = ["s3:GetObject", "s3:ListBucket"]
    resources = [aws_s3_bucket.models.arn, "${aws_s3_bucket.models.arn}/*"]
  }
  statement {
    actions   = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"]
    resources = [aws_ecr_repository.images.arn]
  }
  statement {
    actions = [
      "ecr:GetAuthorizationToken", "cloudwatch:PutMetricData",
      "logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams",
    ]
    resources = ["*"]
  }
}

resource "aws_iam_role" "endpoint" {
  name               = var.name
  assume_role_policy = data.aws_iam_policy_document.assume.json
}

resource "aws_iam_role_policy" "endpoint" {
  name   = var.name
  role   = aws_iam_role.endpoint.id
  policy = data.aws_iam_policy_document.endpoint.json
}

resource "aws_sagemaker_model" "model" {
  name               = var.name
  execution_role_arn = aws_iam_role.endpoint.arn
  depends_on         = [aws_iam_role_policy.endpoint]

  primary_container {
    image          = "${aws_ecr_repository.images.repository_url}:${var.image_tag}"
    model_data_url = var.model_data == null ? null : "s3://${aws_s3_bucket.models.id}/${var.model_data}"
  }
}

resource "aws_sagemaker_endpoint_configuration" "endpoint" {
  name = var.name

  production_variants {
    variant_name           = "all"
    model_name             = aws_sagemaker_model.model.name
    instance_type          = var.serverless == null ? var.instance_type : null
    initial_instance_count = var.serverless == null ? 1 : null

    dynamic "serverless_config" {
      for_each = var.serverless == null ? [] : [var.serverless]
      content {
        memory_size_in_mb = serverless_config.value.memory
        max_concurrency   = serverless_config.value.concurrency
      }
    }
  }
}

resource "aws_sagemaker_endpoint" "endpoint" {
  name                 = var.name
  endpoint_config_name = aws_sagemaker_endpoint_configuration.endpoint.name
}

output "bucket" {
  value = aws_s3_bucket.models.id
}

output "registry" {
  value = aws_ecr_repository.images.repository_url
}

output "role" {
  value = aws_iam_role.endpoint.arn
}

output "endpoint" {
  value = aws_sagemaker_endpoint.endpoint.name
}
