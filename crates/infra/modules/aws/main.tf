# One EC2 machine in the default network of the account, reachable by SSH from one address.
# It terminates when its system shuts down, and its disk goes with it.

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

data "aws_ec2_instance_type" "machine" {
  instance_type = var.machine_type
}

locals {
  tags         = merge(var.tags, { Name = var.name, created-by = "bancada" })
  architecture = contains(data.aws_ec2_instance_type.machine.supported_architectures, "arm64") ? "arm64" : "amd64"
}

# Debian's own account, https://wiki.debian.org/Cloud/AmazonEC2Image
data "aws_ami" "debian" {
  count       = var.image == null ? 1 : 0
  owners      = ["136693071363"]
  most_recent = true

  filter {
    name   = "name"
    values = ["debian-12-${local.architecture}-*"]
  }
}

# Created before the machine and held by it: while a machine exists that Terraform has lost, this
# cannot be destroyed, and `bancada infra list` goes on showing the machine.
resource "aws_security_group" "machine" {
  name        = var.name
  description = "SSH from the caller only"
  tags        = local.tags

  ingress {
    description = "SSH"
    protocol    = "tcp"
    from_port   = 22
    to_port     = 22
    cidr_blocks = [var.caller_cidr]
  }

  egress {
    description = "Packages, datasets"
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_instance" "machine" {
  ami                                  = var.image == null ? data.aws_ami.debian[0].id : var.image
  instance_type                        = var.machine_type
  vpc_security_group_ids               = [aws_security_group.machine.id]
  associate_public_ip_address          = true
  instance_initiated_shutdown_behavior = "terminate"
  user_data                            = var.user_data
  tags                                 = local.tags
  volume_tags                          = local.tags

  root_block_device {
    volume_size           = var.disk_gigabytes
    volume_type           = "gp3"
    encrypted             = true
    delete_on_termination = true
  }

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "required"
  }

  dynamic "instance_market_options" {
    for_each = var.spot ? [1] : []
    content {
      market_type = "spot"
      spot_options {
        spot_instance_type             = "one-time"
        instance_interruption_behavior = "terminate"
      }
    }
  }

  # A newer image of the same system is no reason to destroy a machine that runs.
  lifecycle {
    ignore_changes = [ami]
  }
}

output "address" {
  value = aws_instance.machine.public_ip
}

output "user" {
  value = "bancada"
}

output "boot" {
  value = "Ends itself at ${var.ends_at}: its system shuts down, which terminates it and deletes its disk."
}
